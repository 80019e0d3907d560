// The data of the page: series as arrays (page/encode.py says what is in them), read when asked for.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const COLUMNS = [
  "case",
  "metric",
  "arch",
  "source",
  "device",
  "axis",
  "values",
  "budgets",
  "verdicts",
  "places",
  "code",
  "confidences",
  "disturbances",
  "reason",
  "intervals",
  "changes",
  "leftOut",
  "where",
];
const known = new Map();

// Series as encode.py writes them, with all their columns, in the order of COLUMNS.
function unpacked() {
  const columns = (table) => data[table].map((entry) => entry.map((one) => [one]));
  const origins = columns("origins"), judgements = columns("judged");
  const of = (table, entry) => (typeof entry === "number" ? table[entry] : entry);
  return data.series.map(
    ([name, metric, where, origin, judged, values, intervals = [], changes = [], leftOut = 0]) => {
      const [places, code] = of(origins, origin);
      const [budgets, verdicts, confidences, disturbances, reason] = of(judgements, judged);
      const [arch, source, device, axis, place] = data.wheres[where];
      return [
        name,
        metric,
        arch,
        source,
        device,
        axis,
        Array.isArray(values) ? values : [values],
        budgets,
        verdicts,
        places,
        code,
        confidences,
        disturbances,
        reason[0],
        intervals,
        changes,
        leftOut,
        place,
      ];
    },
  );
}
data.series = unpacked();

// Run lengths to a column of so many entries.
function spread(lengths, count) {
  const column = [];
  for (let i = 0; i < lengths.length; i += 2) {
    const times = i + 1 < lengths.length ? lengths[i + 1] : count - column.length;
    for (let k = 0; k < times; k++) column.push(lengths[i]);
  }
  return column;
}

function words(column) {
  return column.map((number) => (number < 0 ? null : data.texts[number]));
}

// A series with its names, its runs (numbers into data.runs) and its columns.
function series(number) {
  if (known.has(number)) return known.get(number);
  const raw = {};
  COLUMNS.forEach((name, i) => {
    raw[name] = data.series[number][i];
  });
  const runs = data.axes[raw.axis];
  const [family, variant, type, size] = data.cases[raw.case];
  const [id, unit, direction, kind, found, meaning, cure] = data.metrics[raw.metric];
  const column = (name) => words(spread(raw[name], runs.length));
  const one = {
    number,
    family,
    variant,
    type,
    size,
    runs,
    unit,
    id: `${family}.${variant}.${type}@${size}`,
    metric: { id, direction, kind, found, meaning, cure },
    arch: raw.arch < 0 ? null : data.archs[raw.arch],
    source: raw.source < 0 ? null : data.sources[raw.source],
    device: raw.device < 0 ? null : data.devices[raw.device],
    where: data.texts[raw.where],
    values: spread(raw.values, runs.length),
    budgets: column("budgets"),
    verdicts: column("verdicts"),
    places: column("places"),
    code: column("code"),
    confidences: column("confidences"),
    disturbances: column("disturbances"),
    reason: raw.reason < 0 ? null : data.texts[raw.reason],
    intervals: spread(raw.intervals, raw.intervals.length ? runs.length : 0),
    changes: raw.changes.map(([index, better, cause]) => ({ index, better, cause })),
    leftOut: raw.leftOut,
  };
  if (known.size > 2000) known.clear();
  known.set(number, one);
  return one;
}

function run(number) {
  const [id, time, commit, dirty, toolkit, flags, device, driver, emulated] = data.runs[number];
  return { id, time, commit, dirty, toolkit, flags, device, driver, emulated };
}

// A number as style.number_text() writes it: at most seven characters.
function numberText(value) {
  if (value === null || value === undefined) return "not measured";
  if (typeof value === "string") return value;
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return value.toLocaleString("en");
  if (Math.abs(value) < 1e-3) return value.toExponential(2);
  for (
    const [limit, scale, prefix] of [[1e6, 1, ""], [1e9, 1e6, " M"], [1e12, 1e9, " G"], [
      1e15,
      1e12,
      " T",
    ]]
  ) {
    if (Math.abs(value) < limit * 0.99995) {
      const scaled = value / scale;
      return (Math.abs(scaled) >= 999.95
        ? Math.round(scaled).toLocaleString("en")
        : scaled.toPrecision(4)) + prefix;
    }
  }
  return value.toExponential(2);
}

function quantity(value, unit) {
  const text = numberText(value);
  if (typeof value !== "number") return text;
  const name = unit === "us" ? "µs" : unit === "1" || unit === "fraction" ? "" : unit;
  return (text + (/[A-Z]$/.test(text) && name.endsWith("/s") ? "" : " ") + name).trim();
}

// An element with attributes and children; text is never parsed as HTML.
function make(name, attributes, ...children) {
  const svg = ["svg", "g", "path", "line", "circle", "text", "title", "polyline"].includes(name);
  const element = svg
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A long name as parts between which a line may break: after dots, slashes and at signs.
function breakable(text) {
  return text.split(/(?<=[./@])/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));
}

function night(one) {
  return one.time.slice(0, 10);
}

// To the minute, where a night has several runs.
function moment(one) {
  return one.time.slice(0, 16).replace("T", " ");
}

// Whether a series was there in the last night.
function isOfLastNight(entry) {
  return data.axes[entry[5]].at(-1) >= data.runs.length - data.nights.at(-1);
}

function sourceAddress(place, one) {
  if (!data.links.source || !place || !one.commit) return null;
  const [, file, line] = /^(.*?)(?::(\d+))?$/s.exec(place);
  const path = file.split("/").map(encodeURIComponent).join("/");
  return data.links.source.replaceAll("{commit}", () => encodeURIComponent(one.commit))
    .replaceAll("{line}", () => line || "1").replaceAll("{file}", () => path);
}

function placeElement(place, one) {
  if (!place) return make("span", { class: "faint" }, "not known");
  const address = sourceAddress(place, one);
  const code = make("code", {}, place);
  return address ? make("a", { href: address }, code) : code;
}

function commitElement(one) {
  if (!one.commit) return "none";
  const code = make("code", {}, one.commit);
  if (!data.links.commit) return code;
  return make("a", {
    href: data.links.commit.replaceAll("{commit}", () => encodeURIComponent(one.commit)),
  }, code);
}

// The line of a shell that measures a value again.
function repeat(one) {
  const quoted = `'${one.id.replaceAll("'", "'\\''")}'`;
  if (one.metric.found === "cuda-events") return `warpgauge-bench --filter ${quoted}`;
  const emulated = one.source === "emulator" ? " --device=emulated" : "";
  const arch = one.arch && !one.device ? ` --arch '${one.arch.replaceAll("'", "'\\''")}'` : "";
  return `warpgauge gate --filter ${quoted}${emulated}${arch}`;
}
