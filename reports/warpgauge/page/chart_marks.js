// What a chart has besides lines: bands of noise, the budget, changes with their causes, a ring.
"use strict";

const MARK = 6; // half a diamond's width, in pixels

/**
 * Runs `draw` on a chart's canvas in pixels of the page, clipped to where its lines are.
 * @param {uPlot} chart
 * @param {(ctx: CanvasRenderingContext2D, x: ToPixels, y: ToPixels) => void} draw
 */
function onCanvas(chart, draw) {
  const { ctx, bbox } = chart,
    ratio = uPlot.pxRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top - 14 * ratio, bbox.width, bbox.height + 14 * ratio);
  ctx.clip();
  ctx.scale(ratio, ratio);
  ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const x = (/** @type {number} */ place) => chart.valToPos(place, "x", true) / ratio,
    y = (/** @type {number} */ value) => chart.valToPos(value, "y", true) / ratio;
  draw(ctx, x, y);
  ctx.restore();
}

/**
 * @param {Drawn} drawn
 * @param {uPlot} chart
 * @param {Line[]} lines
 */
function drawBelow(drawn, chart, lines) {
  const { budgeted } = drawn;
  onCanvas(chart, (ctx, x, y) => {
    for (const line of lines) drawBand(ctx, line, x, y);
    if (budgeted && lines.includes(budgeted)) drawBudget(ctx, budgeted, x, y);
  });
}

/**
 * @param {Drawn} drawn
 * @param {uPlot} chart
 * @param {Line[]} lines
 */
function drawAbove(drawn, chart, lines) {
  const { budgeted, places, point } = drawn;
  onCanvas(chart, (ctx, x, y) => {
    for (const line of lines) drawDisturbed(ctx, line, x, y);
    const isHere = budgeted && lines.includes(budgeted);
    if (isHere) nameBudget(ctx, budgeted, chart.series[0].idxs[1], x, y);
    /** @type {[x: number, y: number][]} */
    const texts = []; // where causes stand already
    for (const line of lines) drawChanges(ctx, line, x, y, texts);
    if (!isHere || point === null) return;
    const ringed = valueIn(places, budgeted.series.runs[point]);
    const value = budgeted.values[ringed];
    if (typeof value === "number") circle(ctx, x(ringed), y(value), 7, null, colour("ink"));
  });
}

/**
 * The 95 % confidence intervals: a band where neighbouring runs have them; a run alone has a bar.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Line} line
 * @param {ToPixels} x
 * @param {ToPixels} y
 */
function drawBand(ctx, line, x, y) {
  /** @type {number[][]} */
  const stretches = [[]];
  line.values.forEach((value, place) => {
    if (value === undefined) return;
    if (typeof line.low[place] === "number") lastOf(stretches).push(place);
    else if (lastOf(stretches).length) stretches.push([]);
  });
  ctx.globalAlpha = 0.22;
  ctx.fillStyle = colour(`line-${line.number % LINES}`);
  for (const stretch of stretches.filter(({ length }) => length)) {
    const wide = stretch.length > 1 ? 0 : 3;
    ctx.beginPath();
    for (const place of stretch) {
      for (const side of [-wide, wide]) ctx.lineTo(x(place) + side, y(Number(line.high[place])));
    }
    for (const place of stretch.toReversed()) {
      for (const side of [wide, -wide]) ctx.lineTo(x(place) + side, y(Number(line.low[place])));
    }
    ctx.fill();
  }
  ctx.globalAlpha = 1;
}

/**
 * The budget of each run, as wide as the run's place.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Line} line
 * @param {ToPixels} x
 * @param {ToPixels} y
 */
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

/**
 * At the newest run that is shown.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Line} line
 * @param {number} newest
 * @param {ToPixels} x
 * @param {ToPixels} y
 */
function nameBudget(ctx, { series, limits, indices }, newest, x, y) {
  const last = limits.slice(0, newest + 1).findLastIndex((limit) => typeof limit === "number");
  if (last < 0) return;
  const text = `budget ${series.budgets[valueIn(indices, last)]}`;
  write(ctx, text, x(last + 0.5) - 4, y(Number(limits[last])) - 5);
}

/**
 * Letters on paper, that end at a place.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {number} x
 * @param {number} y
 */
function write(ctx, text, x, y) {
  ctx.textAlign = "right";
  ctx.lineWidth = 4;
  ctx.strokeStyle = colour("paper");
  ctx.strokeText(text, x, y);
  ctx.fillStyle = colour("ink");
  ctx.fillText(text, x, y);
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Line} line
 * @param {ToPixels} x
 * @param {ToPixels} y
 */
function drawDisturbed(ctx, line, x, y) {
  line.indices.forEach((i, place) => {
    if (line.series.disturbances[i] && typeof line.values[place] === "number") {
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

/**
 * A diamond, and the cause where no other one stands: above it, or below where the value fell.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Line} line
 * @param {ToPixels} x
 * @param {ToPixels} y
 * @param {[x: number, y: number][]} texts where causes stand already
 */
function drawChanges(ctx, line, x, y, texts) {
  for (const change of line.series.changes) {
    const place = [...line.indices].find(([, i]) => i === change.index)?.[0];
    const value = place === undefined ? null : line.values[place];
    if (place === undefined || typeof value !== "number") continue;
    const [cx, cy] = [x(place), y(value)];
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
    const before = line.values.slice(0, place).findLast((other) => typeof other === "number");
    const fell = typeof before === "number" && before > value;
    write(ctx, change.cause, cx + MARK, fell ? cy + MARK + 14 : cy - MARK - 5);
  }
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string | null} fill
 * @param {string} stroke
 */
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
