// A family's cases by architecture, per element where their sizes count elements.
"use strict";

const DIVIDED = [
  "wavefronts",
  "sectors",
  "requests",
  "instructions",
  "branches",
  "conflicts",
  "us",
];
const MOST_CASES = 40;

/** @param {string} size */
function elements(size) {
  return (size.match(/\d{1,15}/g) || []).reduce((product, extent) => product * Number(extent), 1) ||
    1;
}

/**
 * The values of a case by architecture, all from the source that most architectures have.
 * @param {ByArch} archs
 * @returns {Map<string, Newest>}
 */
function fromOneSource(archs) {
  const count = (/** @type {string} */ source) =>
    [...archs.values()].filter((sources) => sources.has(source)).length;
  const best = SOURCES.reduce((a, b) => (count(b) > count(a) ? b : a));
  const found = new Map();
  for (const [arch, sources] of archs) {
    if (sources.has(best)) found.set(arch, sources.get(best));
  }
  return found;
}

/**
 * Those that differ most come first.
 * @param {HTMLElement} place
 */
function showPerElement(place) {
  const [family, metric] = [...place.querySelectorAll("select")].map((select) => select.value);
  /** @type {[id: number, row: Map<string, Newest>][]} */
  const cases = [...latestOf(metric, family)].map(([id, archs]) => [id, fromOneSource(archs)]);
  const generation = (/** @type {string} */ arch) => Number(/\d+/.exec(arch)?.[0] ?? 0);
  const order = [...new Set(cases.flatMap(([, row]) => [...row.keys()]))].sort((a, b) =>
    generation(a) - generation(b) || (a < b ? -1 : 1)
  );
  const [, unit = "", direction = ""] = data.metrics.find((row) => row[0] === metric) ?? [];
  const spreadOf = (/** @type {Map<string, Newest>} */ row) => {
    const v = [...row.values()].map((cell) => cell.value);
    return Math.min(...v) === 0 ? Math.max(...v) : Math.max(...v) / Math.min(...v) - 1;
  };
  const rows = cases.sort((a, b) => spreadOf(b[1]) - spreadOf(a[1])).slice(0, MOST_CASES);
  const counted = (/** @type {number} */ id) =>
    DIVIDED.includes(unit) &&
    data.counted.some(([name, type]) => name === data.cases[id][0] && type === data.cases[id][2]);
  const divided = rows.filter(([id]) => counted(id)).length;
  the("thead", HTMLElement, place).replaceChildren(
    make(
      "tr",
      {},
      make("th", { scope: "col" }, "Case"),
      ...order.map((arch) => make("th", { scope: "col" }, arch)),
    ),
  );
  the("tbody", HTMLElement, place).replaceChildren(
    ...rows.map(([id, row]) =>
      elementRow(id, row, order, counted(id), direction, divided < rows.length)
    ),
  );
  const left = cases.length > rows.length
    ? `; ${cases.length - rows.length} more cases differ less and are left out`
    : "";
  const name = quantity(0, unit).slice(1).trim() || "a number";
  const per = !divided
    ? (DIVIDED.includes(unit)
      ? ", not per element: the sizes of this family do not count elements"
      : "")
    : divided === rows.length
    ? " per element"
    : ", per element where that is said";
  setCaption(
    the("table", HTMLTableElement, place),
    `${metric} of ${family}, ${name}${per}: those that differ most first${left}.`,
  );
}

/**
 * @param {number} id
 * @param {Map<string, Newest>} row
 * @param {string[]} order
 * @param {boolean} counted
 * @param {string} direction
 * @param {boolean} mixed
 */
function elementRow(id, row, order, counted, direction, mixed) {
  const share = counted ? elements(data.cases[id][3]) : 1, base = row.get(order[0])?.value;
  const cells = order.map((arch) => {
    const cell = row.get(arch);
    if (!cell) return make("td", { class: "missing" }, "–");
    const gain = base && base > 0 && cell.value > 0
      ? Math.max(-1, Math.min(1, Math.log2(cell.value / base) * (direction === "higher" ? 1 : -1)))
      : 0;
    const style = direction === "none" || !gain
      ? null
      : `background: color-mix(in srgb, var(--${gain > 0 ? "better" : "worse"}) ${
        Math.round(Math.abs(gain) * 48)
      }%, var(--paper))`;
    return make(
      "td",
      { style },
      make("a", { href: `#fact-${cell.number}` }, numberText(cell.value / share)),
    );
  });
  const note = counted && mixed ? make("span", { class: "faint" }, " per element") : null;
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, make("code", { class: "case" }, ...breakable(caseName(id))), note),
    ...cells,
  );
}

function startPerElement() {
  const place = document.getElementById("per-element");
  if (!place) return;
  const [families, metrics] = place.querySelectorAll("select");
  fill(families, [...new Set(data.cases.map((names) => names[0]))].sort());
  const update = () => {
    const own = new Set(
      allSeries.filter((entry) => data.cases[entry.case][0] === families.value).map((entry) =>
        data.metrics[entry.metric][0]
      ),
    );
    fill(metrics, [...own].sort(), metrics.value || "instructions");
    showPerElement(place);
  };
  families.addEventListener("change", update);
  metrics.addEventListener("change", () => showPerElement(place));
  the(".choices", HTMLElement, place).hidden = false;
  place.addEventListener("toggle", update, { once: true });
}
