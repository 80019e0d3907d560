// Reads the data of the page: series as arrays (page/encode.py says what is in them), unfolded when
// they are asked for.
"use strict";

/**
 * Names are numbers of tables, -1 for none; columns are run lengths.
 * @typedef {number | string | null} Value a word where it is a string, null where not measured
 * @typedef {[index: number, better: number, cause: string]} PackedChange
 * @typedef {[
 *   name: number, metric: number, where: number, origin: number | number[][],
 *   judged: number | number[][], values: Value | Value[], intervals?: any[],
 *   changes?: PackedChange[], leftOut?: number,
 * ]} PackedSeries
 * @typedef {{
 *   case: number, metric: number, arch: number, source: number, device: number, axis: number,
 *   values: Value[], budgets: number[], verdicts: number[], places: number[], code: number[],
 *   confidences: number[], disturbances: number[], reason: number, intervals: any[],
 *   changes: PackedChange[], leftOut: number, where: number,
 * }} Entry a series with all its columns
 * @typedef {{
 *   runs: [
 *     id: string, time: string, commit: string | null, dirty: boolean, toolkit: string | null,
 *     flags: string | null, device: string | null, driver: string | null, emulated: boolean,
 *   ][],
 *   metrics: [
 *     id: string, unit: string, direction: string, kind: string, found: string, meaning: string,
 *     cure: string,
 *   ][],
 *   cases: [family: string, variant: string, type: string, size: string][],
 *   archs: string[], sources: string[], devices: string[], texts: string[],
 *   axes: number[][], wheres: number[][], origins: number[][], judged: number[][],
 *   series: PackedSeries[], nights: number[], bestSources: string[], counted: [string, string][],
 *   links: {source: string | null, commit: string | null},
 *   blamed: Record<number, Record<number, string>>,
 * }} Data
 * @typedef {ReturnType<typeof unfolded>} Series
 * @typedef {ReturnType<typeof runOf>} Run
 * @typedef {Series["changes"][number]} Change
 */

/**
 * The last entry of a list that has one.
 * @template T
 * @param {T[]} list
 */
function lastOf(list) {
  return list[list.length - 1];
}

/**
 * The value of a key that a map has.
 * @template K, V
 * @param {Map<K, V>} map
 * @param {K} key
 */
function valueIn(map, key) {
  return /** @type {V} */ (map.get(key));
}

/**
 * The map of a key in a map of maps: a new one where there is none.
 * @template K, A, B
 * @param {Map<K, Map<A, B>>} maps
 * @param {K} key
 * @returns {Map<A, B>}
 */
function mapIn(maps, key) {
  const found = maps.get(key) ?? new Map();
  maps.set(key, found);
  return found;
}

/** @type {Data} */
const data = JSON.parse(the("#data", HTMLScriptElement).text);

/**
 * Columns of entries that have one value for all runs.
 * @param {number[][]} table
 */
function columnsOf(table) {
  return table.map((entry) => entry.map((value) => [value]));
}

const origins = columnsOf(data.origins);
const judgements = columnsOf(data.judged);

/**
 * The columns of a series that are in a table, if they have one value for all runs.
 * @param {number[][][]} table
 * @param {number | number[][]} entry a number of the table, or the columns themselves
 */
function shared(table, entry) {
  return typeof entry === "number" ? table[entry] : entry;
}

/**
 * A series as encode.py writes it, with all its columns.
 * @param {PackedSeries} packed
 * @returns {Entry}
 */
function unpacked(packed) {
  const [name, metric, where, origin, judged, values, intervals = [], changes = [], leftOut = 0] =
    packed;
  const [arch, source, device, axis, place] = data.wheres[where];
  const [places, code] = shared(origins, origin);
  const [budgets, verdicts, confidences, disturbances, [reason]] = shared(judgements, judged);
  return {
    case: name,
    metric,
    arch,
    source,
    device,
    axis,
    where: place,
    places,
    code,
    budgets,
    verdicts,
    confidences,
    disturbances,
    reason,
    values: Array.isArray(values) ? values : [values],
    intervals,
    changes,
    leftOut,
  };
}

/** The series of `data`, by their numbers. */
const allSeries = data.series.map(unpacked);

/** How many series are kept unfolded. */
const MOST_UNFOLDED = 2000;

/** @type {Map<number, Series>} */
const unfoldedSeries = new Map();

/**
 * Run lengths to a column of so many entries.
 * @param {any[]} lengths
 * @param {number} count
 */
function spread(lengths, count) {
  /** @type {any[]} */
  const column = [];
  for (let i = 0; i < lengths.length; i += 2) {
    const times = i + 1 < lengths.length ? lengths[i + 1] : count - column.length;
    for (let k = 0; k < times; k++) column.push(lengths[i]);
  }
  return column;
}

/** @param {number[]} column */
function words(column) {
  return column.map((number) => (number < 0 ? null : data.texts[number]));
}

/**
 * A series with its names, its runs (numbers into data.runs) and its columns.
 * @param {number} number
 */
function seriesOf(number) {
  const before = unfoldedSeries.get(number);
  if (before) return before;
  const series = unfolded(number);
  if (unfoldedSeries.size > MOST_UNFOLDED) unfoldedSeries.clear();
  unfoldedSeries.set(number, series);
  return series;
}

/** @param {number} number */
function unfolded(number) {
  const entry = allSeries[number];
  const runs = data.axes[entry.axis];
  const [family, variant, type, size] = data.cases[entry.case];
  const [id, unit, direction, kind, found, meaning, cure] = data.metrics[entry.metric];
  const column = (/** @type {number[]} */ lengths) => words(spread(lengths, runs.length));
  return {
    number,
    family,
    variant,
    type,
    size,
    runs,
    unit,
    id: `${family}.${variant}.${type}@${size}`,
    metric: { id, direction, kind, found, meaning, cure },
    arch: entry.arch < 0 ? null : data.archs[entry.arch],
    source: entry.source < 0 ? null : data.sources[entry.source],
    device: entry.device < 0 ? null : data.devices[entry.device],
    where: data.texts[entry.where],
    /** @type {Value[]} */
    values: spread(entry.values, runs.length),
    budgets: column(entry.budgets),
    verdicts: column(entry.verdicts),
    places: column(entry.places),
    code: column(entry.code),
    confidences: column(entry.confidences),
    disturbances: column(entry.disturbances),
    reason: entry.reason < 0 ? null : data.texts[entry.reason],
    /** @type {(0 | [below: number, above: number])[]} */
    intervals: spread(entry.intervals, entry.intervals.length ? runs.length : 0),
    changes: entry.changes.map(([index, better, cause]) => ({ index, better, cause })),
    leftOut: entry.leftOut,
  };
}

/** @param {number} number */
function runOf(number) {
  const [id, time, commit, dirty, toolkit, flags, device, driver, emulated] = data.runs[number];
  return { id, time, commit, dirty, toolkit, flags, device, driver, emulated };
}

/**
 * Whether a series was there in the last night.
 * @param {Entry} entry
 */
function isOfLastNight(entry) {
  return lastOf(data.axes[entry.axis]) >= data.runs.length - lastOf(data.nights);
}
