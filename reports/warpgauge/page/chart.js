// Charts of series over their runs, drawn by uPlot: a place for each run, a line for each series.
"use strict";

const WIDE = 8; // largest over smallest value from which the axis is logarithmic
const LINES = 6; // colours
const DASHES = [[], [9, 4], [2, 3], [9, 3, 2, 3]]; // twelve different lines, with the colours
const PRINTED = 680; // pixels of a chart on paper
/**
 * How a chart is seen; `log` is null where its values decide, `range` where all runs are shown.
 * @typedef {{
 *   log: boolean | null, percent: boolean, split: boolean,
 *   range: [low: number, high: number] | null,
 * }} View
 * @typedef {ReturnType<typeof lineOf>} Line
 * @typedef {{
 *   figure: HTMLElement, runs: number[], places: Map<number, number>, lines: Line[],
 *   budgeted: Line | undefined, point: number | null,
 *   onPoint: ((series: Series, index: number) => void) | null, view: View, plots: uPlot[],
 *   log: boolean, canBeLog: boolean, readout: HTMLElement, read: number,
 *   onRead?: (place: number) => void, onRange?: () => void,
 * }} Drawn
 * @typedef {(place: number) => number} ToPixels
 */

/** @type {View} */
const PLAIN = { log: null, percent: false, split: false, range: null };
/** @type {Map<uPlot, number>} */
const charts = new Map(); // those on the page, and how wide each is

/** @param {string} name */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** @param {number} number */
function dashOf(number) {
  return DASHES[number % DASHES.length];
}

/**
 * What a line looks like, for legends.
 * @param {number} number
 */
function lineKey(number) {
  const style = `stroke: var(--line-${number % LINES}); stroke-width: 2.5`;
  return make(
    "svg",
    { class: "key", width: 30, height: 10, "aria-hidden": "true" },
    number < 0 ? null : make("line", {
      x1: 1,
      x2: 29,
      y1: 5,
      y2: 5,
      style,
      "stroke-dasharray": dashOf(number).join(" ") || null,
    }),
  );
}

/**
 * The number of a budget such as "<= 20" or "<= 1.1 x 1024 of naive.f32"; null where it is not one.
 * @param {string | null} budget
 */
function limitOf(budget) {
  const found = /^(?:<=|>=|=)\s*(-?[\d.]+(?:e[-+]?\d+)?)(?: x ([\d.e+-]+ of|.*))?/i.exec(
    budget || "",
  );
  if (!found) return null;
  const limit = Number(found[1]) * (found[2] === undefined ? 1 : parseFloat(found[2]));
  return Number.isNaN(limit) ? null : limit;
}

/**
 * A series in the places of runs: its values, the ends of their intervals and its budgets, all as
 * shares of its first value where `percent`. Places without a run of the series have no value.
 * @param {Series} series
 * @param {number} number
 * @param {Map<number, number>} places
 * @param {boolean} percent
 */
function lineOf(series, number, places, percent) {
  const first = series.values.find((value) => typeof value === "number" && value !== 0);
  const numeric = (/** @type {Value} */ value) => {
    if (typeof value !== "number") return null;
    if (!percent) return value;
    return typeof first === "number" ? (100 * value) / first : null;
  };
  const column = (/** @type {(i: number) => Value} */ of) => {
    /** @type {(number | null | undefined)[]} */
    const found = Array(places.size).fill(undefined);
    series.runs.forEach((at, i) => {
      found[valueIn(places, at)] = numeric(of(i));
    });
    return found;
  };
  const end = (/** @type {1 | -1} */ sign, /** @type {0 | 1} */ side) =>
    column((i) => {
      const value = series.values[i], interval = series.intervals[i];
      return interval && typeof value === "number" ? value + sign * interval[side] : null;
    });
  return {
    series,
    number,
    indices: new Map(series.runs.map((at, i) => [valueIn(places, at), i])),
    values: column((i) => series.values[i]),
    low: end(-1, 0),
    high: end(1, 1),
    limits: column((i) => limitOf(series.budgets[i])),
  };
}

/**
 * Charts in `figure`: one, or one for each series where the view is `split`. `marked` is the series
 * whose budget is shown, `point` one of its runs that is ringed; `onPoint(series, index)` is called
 * for what the reader picks. Returns what is drawn.
 * @param {HTMLElement} figure
 * @param {Series[]} shown
 * @param {Series} marked
 * @param {{runs?: number[], point?: number | null, onPoint?: Drawn["onPoint"], view?: View}} more
 * @returns {Drawn}
 */
function drawChart(
  figure,
  shown,
  marked,
  { runs = marked.runs, point = null, onPoint = null, view = { ...PLAIN } } = {},
) {
  removeCharts(figure);
  const places = new Map(runs.map((at, i) => [at, i]));
  const lines = shown.map((series, number) => lineOf(series, number, places, view.percent));
  const budgeted = lines.find((line) => line.series === marked);
  /** @type {Drawn} */
  const drawn = {
    ...{ figure, runs, places, lines, budgeted, point, onPoint, view, plots: [] },
    ...{ log: false, canBeLog: false, read: -1 },
    readout: make("p", { class: "readout", "aria-live": "off" }),
  };
  const all = [...lines.flatMap((line) => [line.values, line.low]), budgeted?.limits || []]
    .flat()
    .filter((v) => typeof v === "number");
  if (!lines.some((line) => line.values.some((v) => typeof v === "number"))) {
    figure.replaceChildren(
      make(
        "p",
        { class: "faint" },
        "There are no numbers to draw: the values are words, or nothing was measured.",
      ),
    );
    return drawn;
  }
  const low = Math.min(...all);
  drawn.canBeLog = low > 0;
  drawn.log = drawn.canBeLog && (view.log ?? Math.max(...all) / low >= WIDE);
  const holder = make("div", { class: view.split ? "plots" : null });
  figure.replaceChildren(
    make("p", { class: "faint axis-title" }, axisTitle(drawn)),
    holder,
    drawn.readout,
  );
  const { range } = view;
  const groups = view.split ? lines.map((line) => [line]) : [lines];
  // All of them, before the width of one is measured.
  const targets = groups.map((group) => plotTarget(drawn, holder, group));
  drawn.plots = groups.map((group, i) => plot(drawn, targets[i], group));
  if (range) showRange(drawn, ...range);
  readOut(drawn, point === null ? runs.length - 1 : valueIn(places, marked.runs[point]));
  return drawn;
}

/** @param {Drawn} drawn */
function axisTitle({ lines, log, view }) {
  const { metric, unit } = lines[0].series;
  const name = view.percent ? "% of the first value shown" : quantity(0, unit).slice(1).trim();
  const better = metric.direction === "none" ? "" : `${metric.direction} is better`;
  return [name, better, log ? "log scale" : ""].filter(Boolean).join(", ");
}

/**
 * Where a chart is drawn, with its text for screen readers.
 * @param {Drawn} drawn
 * @param {HTMLElement} holder
 * @param {Line[]} lines
 */
function plotTarget(drawn, holder, lines) {
  const { series } = lines[0];
  const names = lines.map((line) => line.series.variant).join(", ");
  const newest = lines
    .map((line) =>
      `${line.series.variant} ${quantity(line.series.values.at(-1), line.series.unit)}`
    )
    .join(", ");
  const label = `${series.metric.id} of ${names} over ${drawn.runs.length} runs; newest: ${newest}`;
  const target = make("div", { class: "plot", role: "img", "aria-label": label });
  const title = drawn.view.split
    ? make("p", { class: "plot-title" }, lineKey(lines[0].number), make("b", {}, names))
    : null;
  holder.append(make("div", {}, title, target));
  return target;
}

/**
 * @param {Drawn} drawn
 * @param {HTMLElement} target
 * @param {Line[]} lines
 */
function plot(drawn, target, lines) {
  const width = Math.max(280, target.clientWidth || 800);
  const chart = new uPlot(
    optionsOf(drawn, lines, width),
    [drawn.runs.map((_, i) => i), ...lines.map((line) => line.values)],
    target,
  );
  if (drawn.onPoint) {
    chart.over.addEventListener("click", (event) => pick(drawn, chart, lines, event));
  }
  charts.set(chart, width);
  return chart;
}

/**
 * @param {Drawn} drawn
 * @param {number} width
 */
function heightOf(drawn, width) {
  return drawn.view.split ? 190 : width < 600 ? 260 : 320;
}

/**
 * The options of uPlot.
 * @param {Drawn} drawn
 * @param {Line[]} lines
 * @param {number} width
 * @returns {uPlotOptions}
 */
function optionsOf(drawn, lines, width) {
  /** @returns {uPlotSeries} */
  const line = (/** @type {Line} */ { number, values }) => ({
    stroke: () => colour(`line-${number % LINES}`),
    width: 1.8,
    dash: dashOf(number),
    points: {
      size: 5,
      fill: () => colour(`line-${number % LINES}`),
      show: (chart, _, from, to) => to - from < 60 || values.length === 1,
    },
  });
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const paint = {
    font,
    stroke: () => colour("faint"),
    grid: { stroke: () => colour("rule"), width: 1 },
    ticks: { stroke: () => colour("rule"), width: 1, size: 4 },
  };
  return {
    width,
    height: heightOf(drawn, width),
    padding: [14, 40, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: (_, low, high) => shownRange(drawn, low, high) },
      y: { distr: drawn.log ? 3 : 1, range: (chart) => valueRange(drawn, chart) },
    },
    axes: [
      { ...paint, ...runAxis(drawn) },
      { ...paint, ...valueAxis(drawn) },
    ],
    series: [{}, ...lines.map(line)],
    cursor: {
      drag: { x: true, y: false, setScale: true },
      points: { size: 7 },
      sync: { key: drawn.view.split ? "trend" : null },
      bind: {
        mousedown: (chart, _, zoom) => (event) => {
          if (event.shiftKey) startPan(drawn, chart, event);
          else zoom(event);
        },
      },
    },
    hooks: {
      drawAxes: [(chart) => drawBelow(drawn, chart, lines)],
      draw: [(chart) => drawAbove(drawn, chart, lines)],
      setCursor: [
        (chart) => {
          if (typeof chart.cursor.idx === "number") readOut(drawn, chart.cursor.idx);
        },
      ],
      setScale: [
        (chart, name) => {
          if (name === "x") rememberRange(drawn, chart);
        },
      ],
    },
  };
}

/** @param {Element} figure */
function removeCharts(figure) {
  for (const chart of [...charts.keys()].filter(({ root }) => figure.contains(root))) {
    chart.destroy();
    charts.delete(chart);
  }
}

// Canvases do not follow the style of the page: they are drawn again where it changes.
function startCharts() {
  const redraw = () => {
    for (const chart of charts.keys()) chart.redraw(false, true);
  };
  const printed = (/** @type {boolean} */ isPrinting) => () => {
    document.documentElement.classList.toggle("printing", isPrinting);
    for (const [chart, width] of charts) {
      chart.setSize({ width: isPrinting ? Math.min(width, PRINTED) : width, height: chart.height });
    }
    redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", printed(true));
  addEventListener("afterprint", printed(false));
}
