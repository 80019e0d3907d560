// Draws series over their runs: lines, budget, intervals, and what changed.
"use strict";

const WIDE = 8; // largest over smallest value from which the axis is logarithmic
const LINES = 7; // colours; after them come dashes

function scaleOf(values) {
  let low = Math.min(...values), high = Math.max(...values);
  const log = low > 0 && high / low >= WIDE;
  if (!log) {
    if (low > 0 && low < high / 2) low = 0;
    const margin = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
    [low, high] = [low === 0 ? 0 : low - margin, high + margin];
  } else {
    [low, high] = [low / 1.3, high * 1.3];
  }
  const of = (v) => (log ? Math.log(Math.max(v, low)) : v);
  const share = (v) => (of(v) - of(low)) / (of(high) - of(low));
  return { low, high, log, share, ticks: log ? logTicks(low, high) : evenTicks(low, high) };
}

function evenTicks(low, high) {
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function logTicks(low, high) {
  const steps = high / low > 1e4 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high); p++) {
    for (const k of steps) if (k * 10 ** p >= low && k * 10 ** p <= high) ticks.push(k * 10 ** p);
  }
  return ticks.length > 9 ? ticks.filter((_, i) => i % Math.ceil(ticks.length / 9) === 0) : ticks;
}

function tickText(tick) {
  const size = Math.abs(tick);
  return size === 0 || (size >= 1e-3 && size < 1e6) ? String(tick) : numberText(tick).replace(/\.?0+(?=\D|$)/, "");
}

// The number of a budget such as "<= 20" or "<= 1.1 x 1024 of naive.f32"; null where it is not one.
function limitOf(budget) {
  const found = /^(?:<=|>=|=)\s*(-?[\d.]+(?:e[-+]?\d+)?)(?: x ([\d.e+-]+ of|.*))?/i.exec(budget || "");
  if (!found) return null;
  const limit = Number(found[1]) * (found[2] === undefined ? 1 : parseFloat(found[2]));
  return Number.isNaN(limit) ? null : limit;
}

// A chart in `figure`. `marked` is the series whose budget is shown, `point` one of its runs that is
// ringed; `onPoint(series, index)` is called for what the reader picks.
function drawChart(figure, lines, marked, { point = null, onPoint = null } = {}) {
  const numbers = lines.map((one) => ({ one, values: one.values.map((v) => (typeof v === "number" ? v : null)) }));
  const all = numbers.flatMap(({ values }) => values.filter((v) => v !== null));
  figure.replaceChildren();
  if (!all.length) {
    figure.append(make("p", { class: "faint" }, "There are no numbers to draw: the values are words, or nothing was measured."));
    return;
  }
  const limits = marked ? marked.budgets.map(limitOf) : [];
  const shownLimits = limits.filter((limit) => limit !== null);
  const scale = scaleOf(all.concat(shownLimits.length ? shownLimits : []));
  const width = Math.max(300, figure.clientWidth || 800), height = width < 600 ? 260 : 320;
  const left = 74, right = 16, top = 26, bottom = 36;
  const runs = [...new Set(lines.flatMap((one) => one.runs))].sort((a, b) => a - b);
  const place = new Map(runs.map((r, i) => [r, left + ((width - left - right) * (i + 0.5)) / runs.length]));
  const x = (one, index) => place.get(one.runs[index]);
  const y = (v) => top + (1 - scale.share(v)) * (height - top - bottom);
  const first = lines[0];
  const label = `${first.metric.id} of ${lines.map((one) => one.variant).join(", ")} over ${runs.length} runs; newest: ` +
    lines.map((one) => `${one.variant} ${quantity(one.values.at(-1), one.unit)}`).join(", ");
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label });
  drawAxes(svg, { width, height, left, right, top, bottom }, scale, y, runs, place, first);
  if (marked) drawBudget(svg, marked, limits, x, y);
  numbers.forEach(({ one, values }, number) => drawLine(svg, one, values, number, x, y));
  lines.forEach((one, number) => drawChanges(svg, one, number, x, y));
  if (point !== null && typeof marked.values[point] === "number") {
    svg.append(make("circle", { cx: x(marked, point), cy: y(marked.values[point]), r: 7, class: "ring" }));
  }
  const readout = make("p", { class: "readout faint" }, "\u00a0");
  if (onPoint) listen(svg, readout, numbers, x, y, onPoint);
  figure.append(svg, readout);
}

function drawAxes(svg, box, scale, y, runs, place, one) {
  for (const tick of scale.ticks) {
    svg.append(make("line", { x1: box.left, x2: box.width - box.right, y1: y(tick), y2: y(tick), class: "grid" }),
      make("text", { x: box.left - 6, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick)));
  }
  const better = one.metric.direction === "none" ? "" : `, ${one.metric.direction} is better`;
  const title = `${quantity(0, one.unit).slice(1).trim()}${better}${scale.log ? ", log scale" : ""}`;
  svg.append(make("text", { x: 4, y: 14 }, title.replace(/^, /, "")));
  const isOneANight = new Set(runs.map((r) => night(run(r)))).size === runs.length;
  const text = isOneANight ? night : moment, half = isOneANight ? 38 : 56;
  const most = Math.max(2, Math.floor((box.width - box.left) / (2.5 * half)));
  const step = Math.ceil(runs.length / most);
  let free = Infinity; // where the text to the right begins
  for (let i = runs.length - 1; i >= 0; i -= step) {
    const at = place.get(runs[i]);
    if (at + half > free) continue;
    free = at - half;
    const anchor = at > box.width - box.right - half + 4 ? "end" : "middle";
    if (anchor === "end") free = Math.min(at, box.width - box.right) - 2 * half;
    svg.append(make("line", { x1: at, x2: at, y1: box.height - box.bottom, y2: box.height - box.bottom + 4, class: "axis" }),
      make("text", { x: Math.min(at, box.width - box.right), y: box.height - box.bottom + 18, "text-anchor": anchor }, text(run(runs[i]))));
  }
  svg.append(make("line", { x1: box.left, x2: box.width - box.right, y1: box.height - box.bottom, y2: box.height - box.bottom, class: "axis" }));
}

function drawLine(svg, one, values, number, x, y) {
  const style = `stroke: var(--line-${number % LINES}); fill: var(--line-${number % LINES})`;
  const dashes = ["", "6 3", "2 3"][Math.floor(number / LINES) % 3];
  const group = make("g", { style });
  let path = "", open = false;
  values.forEach((value, i) => {
    if (value === null) { open = false; return; }
    path += `${open ? "L" : "M"}${x(one, i).toFixed(1)} ${y(value).toFixed(1)}`;
    open = true;
    const interval = one.intervals[i];
    if (interval) {
      group.append(make("line", { x1: x(one, i), x2: x(one, i), y1: y(value - interval[0]), y2: y(value + interval[1]), class: "interval" }));
    }
  });
  group.append(make("path", { d: path, fill: "none", "stroke-width": 1.8, "stroke-dasharray": dashes || null }));
  values.forEach((value, i) => {
    if (value === null || (values.length > 60 && i < values.length - 1)) return;
    const disturbed = one.disturbances[i];
    const dot = make("circle", { cx: x(one, i), cy: y(value), r: 2.6, fill: disturbed ? "none" : null });
    if (disturbed) dot.append(make("title", {}, disturbed));
    group.append(dot);
  });
  svg.append(group);
}

function drawBudget(svg, one, limits, x, y) {
  let path = "";
  limits.forEach((limit, i) => {
    if (limit !== null) path += `${path && limits[i - 1] !== null ? "L" : "M"}${x(one, i).toFixed(1)} ${y(limit).toFixed(1)}`;
  });
  if (!path) return;
  const last = limits.findLastIndex((limit) => limit !== null);
  svg.append(make("path", { d: path + "h.1", class: "budget" }),
    make("text", { x: x(one, last), y: y(limits[last]) - 5, "text-anchor": "end", class: "budget-text" }, `budget ${one.budgets[last]}`));
}

function drawChanges(svg, one, number, x, y) {
  for (const change of one.changes) {
    const value = one.values[change.index];
    if (typeof value !== "number") continue;
    const [cx, cy, r] = [x(one, change.index), y(value), 6];
    const mark = make("path", {
      d: `M${cx} ${cy - r}L${cx + r} ${cy}L${cx} ${cy + r}L${cx - r} ${cy}Z`, class: "change",
      style: `stroke: var(--line-${number % LINES})`,
    }, make("title", {}, changeText(one, change)));
    svg.append(mark);
  }
}

// The cause of a change, and the commit, toolkit and driver that it came with.
function changeText(one, change) {
  const now = run(one.runs[change.index]);
  const parts = [night(now), one.variant, change.better < 0 ? "worse" : change.better > 0 ? "better" : "changed",
    `by ${change.cause}`, now.commit ? `commit ${now.commit.slice(0, 10)}` : null,
    now.toolkit ? `CUDA ${now.toolkit}` : null, one.device && now.driver ? `driver ${now.driver}` : null];
  return parts.filter(Boolean).join(", ");
}

// The nearest point to the pointer is read out, and picked by a click.
function listen(svg, readout, numbers, x, y, onPoint) {
  const nearest = (event) => {
    const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
    const px = (event.clientX - box.left) * scale, py = (event.clientY - box.top) * scale;
    let best = null;
    for (const { one, values } of numbers) {
      values.forEach((value, i) => {
        if (value === null) return;
        const distance = Math.hypot(x(one, i) - px, (y(value) - py) / 2);
        if (!best || distance < best.distance) best = { one, i, distance };
      });
    }
    return best;
  };
  svg.addEventListener("pointermove", (event) => {
    const { one, i } = nearest(event), of = run(one.runs[i]);
    const commit = of.commit ? `, commit ${of.commit.slice(0, 10)}` : "";
    readout.textContent = `${one.variant}: ${quantity(one.values[i], one.unit)}, ${moment(of)}${commit}`;
  });
  svg.addEventListener("click", (event) => { const { one, i } = nearest(event); onPoint(one, i); });
}
