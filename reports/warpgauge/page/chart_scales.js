// The scales of charts: which runs and values are shown, and where their ticks are.
"use strict";

/**
 * From half a place before the first run to half a place after the last; at least two places.
 * @param {Drawn} drawn
 * @param {number} low
 * @param {number} high
 */
function shownRange(drawn, low, high) {
  const first = -0.5,
    last = drawn.runs.length - 0.5;
  const least = Math.min(2, last - first),
    middle = (low + high) / 2;
  if (low <= 0 && high >= drawn.runs.length - 1) return [first, last];
  if (high - low < least) [low, high] = [middle - least / 2, middle + least / 2];
  if (low < first) [low, high] = [first, high + first - low];
  return high > last ? [Math.max(first, low + last - high), last] : [low, high];
}

/**
 * That of all lines' values between the runs shown, so that charts beside each other compare.
 * @param {Drawn} drawn
 * @param {uPlot} chart
 */
function valueRange(drawn, chart) {
  const [from, to] = chart.series[0].idxs;
  const columns = [
    ...drawn.lines.flatMap((line) => [line.values, line.low, line.high]),
    drawn.budgeted?.limits || [],
  ];
  const seen = columns
    .flatMap((column) => column.slice(from, to + 1))
    .filter((v) => typeof v === "number");
  if (!seen.length) return drawn.log ? [1, 10] : [0, 1];
  let low = Math.min(...seen),
    high = Math.max(...seen);
  if (drawn.log) return [low / 1.3, high * 1.3];
  if (low > 0 && low < high / 2) low = 0;
  const margin = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
  return [low === 0 ? 0 : low - margin, high + margin];
}

/**
 * Ticks are at runs, from the newest that is shown on.
 * @param {Drawn} drawn
 * @returns {uPlotAxis}
 */
function runAxis({ runs }) {
  const isOneANight = new Set(runs.map((at) => night(runOf(at)))).size === runs.length;
  const text = isOneANight ? night : moment;
  return {
    space: isOneANight ? 90 : 130,
    incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    size: 36,
    splits: (_, __, low, high, step) => {
      const ticks = [];
      for (
        let i = Math.min(Math.floor(high), runs.length - 1);
        i >= Math.max(0, low);
        i -= Math.max(1, Math.round(step))
      ) {
        ticks.unshift(i);
      }
      return ticks;
    },
    values: (_, ticks) => ticks.map((i) => text(runOf(runs[Number(i)]))),
  };
}

/**
 * @param {Drawn} drawn
 * @returns {uPlotAxis}
 */
function valueAxis({ log }) {
  /** @type {uPlotAxis} */
  const logTicks = {
    splits: (_, __, low, high) => ticksOfLog(low, high),
    filter: (_, ticks) => ticks,
  };
  return {
    size: 74,
    values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : tickText(tick))),
    ...(log ? logTicks : {}),
  };
}

/**
 * @param {number} low
 * @param {number} high
 */
function ticksOfLog(low, high) {
  const steps = high / low > 1e4 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high); p++) {
    for (const k of steps) if (k * 10 ** p >= low && k * 10 ** p <= high) ticks.push(k * 10 ** p);
  }
  if (ticks.length < 3) return evenTicks(low, high);
  return ticks.length > 9 ? ticks.filter((_, i) => i % Math.ceil(ticks.length / 9) === 0) : ticks;
}

/**
 * @param {number} low
 * @param {number} high
 */
function evenTicks(low, high) {
  const rough = (high - low) / 5,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((k) => k * power >= rough) ?? 10) * power;
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

/** @param {number} tick */
function tickText(tick) {
  const size = Math.abs(tick);
  return size === 0 || (size >= 1e-3 && size < 1e6)
    ? tick.toLocaleString("en", { maximumFractionDigits: 9 })
    : numberText(tick).replace(/\.?0+(?=\D|$)/, "");
}
