// The list behind a mean: "#cases/METRIC/ARCH/BEFORE" compares cases, "#cases/METRIC/ARCH" lists
// them.
"use strict";

const SOURCES = data.bestSources; // of several that have a value the first
const CASE_ROWS = 100;
const casesDialog = the("#cases", HTMLDialogElement);

/**
 * @typedef {{value: number, number: number, run: number}} Newest a value, its series and its run
 * @typedef {Map<string, Map<string, Newest>>} ByArch architecture to source to value
 * @typedef {[name: number, old: Newest | null, now: Newest]} CaseRow
 */

/**
 * The newest number of each case, architecture and source of a metric: case to arch to source.
 * @param {string} metric
 * @param {string | null} family
 */
function latestOf(metric, family = null) {
  /** @type {Map<number, ByArch>} */
  const found = new Map();
  allSeries.forEach((entry, number) => {
    if (data.metrics[entry.metric][0] !== metric || entry.arch < 0 || entry.source < 0) return;
    if (family !== null && data.cases[entry.case][0] !== family) return;
    const value = entry.values.at(-1), run = lastOf(data.axes[entry.axis]);
    if (typeof value !== "number") return;
    const arch = data.archs[entry.arch], source = data.sources[entry.source];
    const archs = mapIn(found, entry.case), sources = mapIn(archs, arch);
    const known = sources.get(source);
    if (!known || run > known.run) {
      sources.set(source, { value, number, run });
    }
  });
  return found;
}

/** @param {number} number */
function caseName(number) {
  const [family, variant, type, size] = data.cases[number];
  return `${family}.${variant}.${type}@${size}`;
}

/**
 * The rows of a list; those that moved most, or have most, come first.
 * @param {string} metric
 * @param {string} arch
 * @param {string | null} before
 */
function listedCases(metric, arch, before) {
  /** @type {CaseRow[]} */
  const rows = [];
  for (const [name, archs] of latestOf(metric)) {
    const after = archs.get(arch), old = before === null ? after : archs.get(before);
    for (const source of SOURCES) {
      const now = after?.get(source), then = old?.get(source);
      if (!now || !then) continue;
      rows.push([name, before === null ? null : then, now]);
      break;
    }
  }
  const moved = (/** @type {CaseRow} */ [, old, now]) => {
    if (old === null) return now.value;
    return old.value > 0 && now.value > 0
      ? Math.abs(Math.log(now.value / old.value))
      : old.value === now.value
      ? 0
      : Infinity;
  };
  const order = new Map(rows.map((row) => [row, moved(row)]));
  const amount = (
    /** @type {CaseRow} */ [, old, now],
  ) => (old === null ? 0 : Math.abs(now.value - old.value));
  // Infinity - Infinity is no number, and no order.
  return rows.sort((a, b) => {
    const [ofA, ofB] = [valueIn(order, a), valueIn(order, b)];
    return ofA === ofB ? amount(b) - amount(a) : ofB - ofA;
  });
}

/**
 * @param {string} metric
 * @param {string} arch
 * @param {string | null} before
 */
function showCases(metric, arch, before) {
  const row = data.metrics.find(([id]) => id === metric);
  const rows = row ? listedCases(metric, arch, before) : [];
  if (!row || !rows.length) return false;
  const [, unit, direction, , , meaning] = row;
  the("h2", HTMLElement, casesDialog).textContent = `${metric}, ${
    before === null ? arch : `${before} → ${arch}`
  }`;
  the("p", HTMLElement, casesDialog).replaceChildren(
    make("b", {}, before === null ? summary(rows, unit) : comparison(rows, direction)),
    ` ${meaning}`,
  );
  const heads = before === null ? ["Case", arch] : ["Case", before, arch, "Change"];
  const body = make("tbody", {}), more = make("button", { type: "button" });
  const showNext = () => {
    const next = rows.slice(body.children.length, body.children.length + CASE_ROWS);
    body.append(...next.map((listed) => caseRow(listed, unit, direction)));
    more.hidden = body.children.length >= rows.length;
    more.textContent = `Show more (${rows.length - body.children.length} left)`;
  };
  more.addEventListener("click", showNext);
  showNext();
  the("div", HTMLElement, casesDialog).replaceChildren(
    takeable(
      make(
        "table",
        {},
        make(
          "thead",
          {},
          make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text))),
        ),
        body,
      ),
      () => casesData(rows, heads, unit),
    ),
    more,
  );
  if (!casesDialog.open) casesDialog.showModal();
  casesDialog.scrollTop = 0;
  return true;
}

/**
 * @param {CaseRow[]} rows
 * @param {string[]} heads
 * @param {string} unit
 */
function casesData(rows, heads, unit) {
  const values = (/** @type {CaseRow} */ [name, old, now]) => {
    return [caseName(name), ...(old === null ? [] : [old.value]), now.value, unit];
  };
  return [[...heads.slice(0, rows[0][1] === null ? 2 : 3), "Unit"], ...rows.map(values)];
}

/**
 * @param {CaseRow[]} rows
 * @param {string} unit
 */
function summary(rows, unit) {
  const values = rows.map(([, , now]) => now.value).sort((a, b) => a - b);
  const sum = values.reduce((all, value) => all + value, 0), middle = values.length / 2;
  const median = (values[Math.ceil(middle) - 1] + values[Math.floor(middle)]) / 2;
  const above = values.filter((value) => value > 0).length;
  return `${values.length} cases, ${above} above 0: median ${numberText(median)}, mean ${
    numberText(sum / values.length)
  }, ` +
    `most ${numberText(values.at(-1))}, sum ${quantity(sum, unit)}.`;
}

/**
 * Of rows that all have a value before.
 * @param {CaseRow[]} rows
 * @param {string} direction
 */
function comparison(rows, direction) {
  const pairs = rows.map(([, old, now]) => ({ old: Number(old?.value), now: now.value }));
  const logs = pairs.filter(({ old, now }) => old > 0 && now > 0)
    .map(({ old, now }) => Math.log(now / old));
  const count = (/** @type {-1 | 0 | 1} */ sign) =>
    pairs.filter(({ old, now }) => Math.sign(now - old) === sign).length;
  const [better, worse] = direction === "higher" ? [count(1), count(-1)] : [count(-1), count(1)];
  const mean = logs.length
    ? ` Geometric mean of ${logs.length} ratios: ${
      Number(Math.exp(logs.reduce((a, b) => a + b) / logs.length).toPrecision(3))
    }.`
    : "";
  return `${rows.length} cases: ${better} better, ${worse} worse, ${count(0)} the same.${mean}`;
}

/**
 * @param {CaseRow} row
 * @param {string} unit
 * @param {string} direction
 */
function caseRow([name, old, now], unit, direction) {
  const link = (/** @type {Newest} */ newest) =>
    make("a", { class: "number", href: `#fact-${newest.number}` }, quantity(newest.value, unit));
  const cells = [
    make("th", { scope: "row" }, make("code", { class: "case" }, ...breakable(caseName(name)))),
  ];
  if (old !== null) cells.push(make("td", { "data-label": "before" }, link(old)));
  cells.push(make("td", { "data-label": old === null ? "value" : "after" }, link(now)));
  if (old !== null) {
    const step = Math.sign(now.value - old.value) * (direction === "higher" ? 1 : -1);
    const word = step > 0 ? "better, " : step < 0 ? "worse, " : "";
    cells.push(
      make("td", {
        "data-label": "change",
        class: step > 0 ? "better" : step < 0 ? "worse" : "faint",
      }, word + changedBy(old.value, now.value)),
    );
  }
  return make("tr", {}, ...cells);
}

/**
 * By how much, as sections.change_text() writes it.
 * @param {number} before
 * @param {number} after
 */
function changedBy(before, after) {
  if (before === after) return "the same";
  if (before === 0) return "from 0";
  if (after === 0) return "to 0";
  const ratio = after / before;
  if (ratio > 0.5 && ratio < 2) {
    const percent = Number((100 * (ratio - 1)).toPrecision(3));
    return `${percent > 0 ? "+" : "−"}${Math.abs(percent)} %`;
  }
  return ratio >= 2
    ? `× ${Number(ratio.toPrecision(3))}`
    : `÷ ${Number((1 / ratio).toPrecision(3))}`;
}
