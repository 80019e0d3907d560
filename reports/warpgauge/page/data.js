// The data of the page: series as arrays (page/encode.py says what is in them), read when asked
// for.
"use strict";

/**
 * Names are numbers of tables, -1 for none; columns are run lengths.
 * @typedef {number | string | null} Value a word where it is a string, null where not measured
 * @typedef {{
 *   case: number, metric: number, arch: number, source: number, device: number, axis: number,
 *   values: any[], budgets: number[], verdicts: number[], places: number[], code: number[],
 *   confidences: number[], disturbances: number[], reason: number, intervals: any[],
 *   changes: [index: number, better: number, cause: string][], leftOut: number, where: number,
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
 *   series: Entry[], nights: number[], bestSources: string[], counted: [string, string][],
 *   links: {source: string | null, commit: string | null},
 * }} Data
 * @typedef {ReturnType<typeof unfolded>} Series
 * @typedef {ReturnType<typeof runOf>} Run
 * @typedef {Series["changes"][number]} Change
 */

/**
 * What a selector names below a place: the page has it.
 * @template {Element} T
 * @param {string} selector
 * @param {{new (): T}} kind
 * @param {ParentNode} place
 * @returns {T}
 */
function the(selector, kind, place = document) {
  const found = place.querySelector(selector);
  if (found instanceof kind) return found;
  throw new TypeError(`the page has no ${selector} that is an ${kind.name}`);
}

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
/** @type {Map<number, Series>} */
const known = new Map();

/** Series as encode.py writes them, with all their columns. */
function unpacked() {
  const columns = (/** @type {number[][]} */ table) =>
    table.map((entry) => entry.map((value) => [value]));
  const origins = columns(data.origins), judgements = columns(data.judged);
  const of = (
    /** @type {number[][][]} */ table,
    /** @type {any} */ entry,
  ) => (typeof entry === "number" ? table[entry] : entry);
  /** @type {any[]} */
  const written = data.series;
  return written.map(
    /** @returns {Entry} */ (
      [name, metric, where, origin, judged, values, intervals = [], changes = [], leftOut = 0],
    ) => {
      const [places, code] = of(origins, origin);
      const [budgets, verdicts, confidences, disturbances, [reason]] = of(judgements, judged);
      const [arch, source, device, axis, place] = data.wheres[where];
      return {
        ...{ case: name, metric, arch, source, device, axis, where: place, places, code },
        ...{ budgets, verdicts, confidences, disturbances, reason, intervals, changes, leftOut },
        values: Array.isArray(values) ? values : [values],
      };
    },
  );
}
data.series = unpacked();

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
  const before = known.get(number);
  if (before) return before;
  const series = unfolded(number);
  if (known.size > 2000) known.clear();
  known.set(number, series);
  return series;
}

/** @param {number} number */
function unfolded(number) {
  const entry = data.series[number];
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

/** @type {[limit: number, scale: number, prefix: string][]} */
const PREFIXES = [
  [1e6, 1, ""],
  [1e9, 1e6, " M"],
  [1e12, 1e9, " G"],
  [1e15, 1e12, " T"],
];

/**
 * A number as style.number_text() writes it: at most seven characters.
 * @param {Value | undefined} value
 */
function numberText(value) {
  if (value === null || value === undefined) return "not measured";
  if (typeof value === "string") return value;
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return value.toLocaleString("en");
  if (Math.abs(value) < 1e-3) return value.toExponential(2);
  for (const [limit, scale, prefix] of PREFIXES) {
    if (Math.abs(value) < limit * 0.99995) {
      const scaled = value / scale;
      return (Math.abs(scaled) >= 999.95
        ? Math.round(scaled).toLocaleString("en")
        : scaled.toPrecision(4)) + prefix;
    }
  }
  return value.toExponential(2);
}

/**
 * @param {Value | undefined} value
 * @param {string} unit
 */
function quantity(value, unit) {
  const text = numberText(value);
  if (typeof value !== "number") return text;
  const name = unit === "us" ? "µs" : unit === "1" || unit === "fraction" ? "" : unit;
  return (text + (/[A-Z]$/.test(text) && name.endsWith("/s") ? "" : " ") + name).trim();
}

/**
 * An element with attributes and children; text is never parsed as HTML.
 * @template {string} Name
 * @param {Name} name
 * @param {Record<string, string | number | boolean | null | undefined>} attributes
 * @param {(Node | string | null | undefined)[]} children
 * @returns {Name extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Name] : Element}
 */
function make(name, attributes, ...children) {
  const svg = ["svg", "g", "path", "line", "circle", "text", "title", "polyline"].includes(name);
  const element = svg
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(key, String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return /** @type {any} */ (element);
}

/**
 * A long name as parts between which a line may break: after dots, slashes and at signs.
 * @param {string} text
 */
function breakable(text) {
  return text.split(/(?<=[./@])/).flatMap((part, i) => (i ? [make("wbr", {}), part] : [part]));
}

/** @param {Run} run */
function night(run) {
  return run.time.slice(0, 10);
}

/**
 * To the minute, where a night has several runs.
 * @param {Run} run
 */
function moment(run) {
  return run.time.slice(0, 16).replace("T", " ");
}

/**
 * Whether a series was there in the last night.
 * @param {Entry} entry
 */
function isOfLastNight(entry) {
  return lastOf(data.axes[entry.axis]) >= data.runs.length - lastOf(data.nights);
}

/**
 * @param {string} place
 * @param {Run} run
 */
function sourceAddress(place, run) {
  const { commit } = run;
  if (!data.links.source || !commit) return null;
  const [, file, line] = /^(.*?)(?::(\d+))?$/s.exec(place) ?? [place, place];
  const path = file.split("/").map(encodeURIComponent).join("/");
  return data.links.source.replaceAll("{commit}", () => encodeURIComponent(commit))
    .replaceAll("{line}", () => line || "1").replaceAll("{file}", () => path);
}

/**
 * @param {string | null} place
 * @param {Run} run
 */
function placeElement(place, run) {
  if (!place) return make("span", { class: "faint" }, "not known");
  const address = sourceAddress(place, run);
  const code = make("code", {}, place);
  return address ? make("a", { href: address }, code) : code;
}

/** @param {Run} run */
function commitElement(run) {
  const { commit } = run;
  if (!commit) return "none";
  const code = make("code", {}, commit);
  if (!data.links.commit) return code;
  return make("a", {
    href: data.links.commit.replaceAll("{commit}", () => encodeURIComponent(commit)),
  }, code);
}

/**
 * The line of a shell that measures a value again.
 * @param {Series} series
 */
function repeat(series) {
  const quoted = `'${series.id.replaceAll("'", "'\\''")}'`;
  if (series.metric.found === "cuda-events") return `warpgauge-bench --filter ${quoted}`;
  const emulated = series.source === "emulator" ? " --device=emulated" : "";
  const arch = series.arch && !series.device
    ? ` --arch '${series.arch.replaceAll("'", "'\\''")}'`
    : "";
  return `warpgauge gate --filter ${quoted}${emulated}${arch}`;
}
