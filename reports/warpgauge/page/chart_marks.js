// What a chart has besides lines: bands of noise, the budget, changes with their causes, a ring.
"use strict";

const MARK = 6; // half a diamond's width, in pixels

// Runs `draw` on a chart's canvas in pixels of the page, clipped to where its lines are.
function onCanvas(chart, draw) {
  const { ctx, bbox } = chart,
    ratio = uPlot.pxRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top - 14 * ratio, bbox.width, bbox.height + 14 * ratio);
  ctx.clip();
  ctx.scale(ratio, ratio);
  ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const x = (place) => chart.valToPos(place, "x", true) / ratio,
    y = (value) => chart.valToPos(value, "y", true) / ratio;
  draw(ctx, x, y);
  ctx.restore();
}

function drawBelow(drawn, chart, lines) {
  onCanvas(chart, (ctx, x, y) => {
    for (const line of lines) drawBand(ctx, line, x, y);
    if (lines.includes(drawn.budgeted)) drawBudget(ctx, drawn.budgeted, x, y);
  });
}

function drawAbove(drawn, chart, lines) {
  onCanvas(chart, (ctx, x, y) => {
    for (const line of lines) drawDisturbed(ctx, line, x, y);
    if (lines.includes(drawn.budgeted)) {
      nameBudget(ctx, drawn.budgeted, chart.series[0].idxs[1], x, y);
    }
    const texts = []; // where causes stand already
    for (const line of lines) drawChanges(ctx, line, x, y, texts);
    const ringed = drawn.point === null
      ? null
      : drawn.places.get(drawn.budgeted.one.runs[drawn.point]);
    if (lines.includes(drawn.budgeted) && typeof drawn.budgeted.values[ringed] === "number") {
      circle(ctx, x(ringed), y(drawn.budgeted.values[ringed]), 7, null, colour("ink"));
    }
  });
}

// The 95 % confidence intervals: a band where neighbouring runs have them; a run alone has a bar.
function drawBand(ctx, line, x, y) {
  const stretches = [[]];
  line.values.forEach((value, place) => {
    if (value === undefined) return;
    if (typeof line.low[place] === "number") stretches.at(-1).push(place);
    else if (stretches.at(-1).length) stretches.push([]);
  });
  ctx.globalAlpha = 0.22;
  ctx.fillStyle = colour(`line-${line.number % LINES}`);
  for (const stretch of stretches.filter((one) => one.length)) {
    const wide = stretch.length > 1 ? 0 : 3;
    ctx.beginPath();
    for (const place of stretch) {
      for (const side of [-wide, wide]) ctx.lineTo(x(place) + side, y(line.high[place]));
    }
    for (const place of stretch.toReversed()) {
      for (const side of [wide, -wide]) ctx.lineTo(x(place) + side, y(line.low[place]));
    }
    ctx.fill();
  }
  ctx.globalAlpha = 1;
}

// The budget of each run, as wide as the run's place.
function drawBudget(ctx, { limits }, x, y) {
  ctx.strokeStyle = colour("ink");
  ctx.setLineDash([5, 4]);
  ctx.lineWidth = 1.2;
  ctx.beginPath();
  let open = false;
  limits.forEach((limit, place) => {
    if (typeof limit === "number") {
      ctx[open ? "lineTo" : "moveTo"](x(place - 0.5), y(limit));
      ctx.lineTo(x(place + 0.5), y(limit));
    }
    if (limit !== undefined) open = limit !== null;
  });
  ctx.stroke();
  ctx.setLineDash([]);
}

// At the newest run that is shown.
function nameBudget(ctx, { one, limits, indices }, newest, x, y) {
  const last = limits.slice(0, newest + 1).findLastIndex((limit) => typeof limit === "number");
  if (last >= 0) {
    write(ctx, `budget ${one.budgets[indices.get(last)]}`, x(last + 0.5) - 4, y(limits[last]) - 5);
  }
}

// Letters on paper, that end at a place.
function write(ctx, text, x, y) {
  ctx.textAlign = "right";
  ctx.lineWidth = 4;
  ctx.strokeStyle = colour("paper");
  ctx.strokeText(text, x, y);
  ctx.fillStyle = colour("ink");
  ctx.fillText(text, x, y);
}

function drawDisturbed(ctx, line, x, y) {
  line.indices.forEach((i, place) => {
    if (line.one.disturbances[i] && typeof line.values[place] === "number") {
      circle(
        ctx,
        x(place),
        y(line.values[place]),
        3,
        colour("paper"),
        colour(`line-${line.number % LINES}`),
      );
    }
  });
}

// A diamond, and the cause where no other one stands: above it, or below where the value fell.
function drawChanges(ctx, line, x, y, texts) {
  for (const change of line.one.changes) {
    const place = [...line.indices].find(([, i]) => i === change.index)?.[0];
    if (typeof line.values[place] !== "number") continue;
    const [cx, cy] = [x(place), y(line.values[place])];
    ctx.beginPath();
    for (
      const [dx, dy] of [
        [0, -MARK],
        [MARK, 0],
        [0, MARK],
        [-MARK, 0],
      ]
    ) {
      ctx.lineTo(cx + dx, cy + dy);
    }
    ctx.closePath();
    ctx.fillStyle = colour("paper");
    ctx.fill();
    ctx.strokeStyle = colour(`line-${line.number % LINES}`);
    ctx.lineWidth = 2;
    ctx.stroke();
    const width = ctx.measureText(change.cause).width;
    if (texts.some(([left, top]) => Math.abs(left - cx) < width + 6 && Math.abs(top - cy) < 16)) {
      continue;
    }
    texts.push([cx, cy]);
    const before = line.values.slice(0, place).findLast((value) => typeof value === "number");
    write(
      ctx,
      change.cause,
      cx + MARK,
      before > line.values[place] ? cy + MARK + 14 : cy - MARK - 5,
    );
  }
}

function circle(ctx, x, y, radius, fill, stroke) {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  if (fill) {
    ctx.fillStyle = fill;
    ctx.fill();
  }
  ctx.strokeStyle = stroke;
  ctx.lineWidth = 2;
  ctx.stroke();
}
