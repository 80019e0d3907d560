// A family's cases by architecture, per element where their sizes count elements.
"use strict";

const perElement = document.getElementById("per-element");
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

function elements(size) {
  return (size.match(/\d{1,15}/g) || []).reduce((product, extent) => product * Number(extent), 1) ||
    1;
}

// The values of a case by architecture, all from the source that most architectures have.
function fromOneSource(archs) {
  const count = (source) => [...archs.values()].filter((sources) => sources.has(source)).length;
  const best = SOURCES.reduce((a, b) => (count(b) > count(a) ? b : a));
  return new Map(
    [...archs].filter(([, sources]) => sources.has(best)).map((
      [arch, sources],
    ) => [arch, sources.get(best)]),
  );
}

// Those that differ most come first.
function showPerElement() {
  const [family, metric] = [...perElement.querySelectorAll("select")].map((select) => select.value);
  const cases = [...latestOf(metric, family)].map(([id, archs]) => [id, fromOneSource(archs)]);
  const generation = (arch) => Number((/\d+/.exec(arch) || [0])[0]);
  const order = [...new Set(cases.flatMap(([, row]) => [...row.keys()]))].sort((a, b) =>
    generation(a) - generation(b) || (a < b ? -1 : 1)
  );
  const [, unit, direction] = data.metrics.find((row) => row[0] === metric) || [];
  const spreadOf = (row) => {
    const v = [...row.values()].map((cell) => cell.value);
    return Math.min(...v) === 0 ? Math.max(...v) : Math.max(...v) / Math.min(...v) - 1;
  };
  const rows = cases.sort((a, b) => spreadOf(b[1]) - spreadOf(a[1])).slice(0, MOST_CASES);
  const counted = (id) =>
    DIVIDED.includes(unit) &&
    data.counted.some(([name, type]) => name === data.cases[id][0] && type === data.cases[id][2]);
  const divided = rows.filter(([id]) => counted(id)).length;
  const [head, body] = [perElement.querySelector("thead"), perElement.querySelector("tbody")];
  head.replaceChildren(
    make(
      "tr",
      {},
      make("th", { scope: "col" }, "Case"),
      ...order.map((arch) => make("th", { scope: "col" }, arch)),
    ),
  );
  body.replaceChildren(
    ...rows.map(([id, row]) =>
      elementRow(id, row, order, counted(id), direction, divided < rows.length)
    ),
  );
  const left = cases.length > rows.length
    ? `; ${cases.length - rows.length} more cases differ less and are left out`
    : "";
  const name = quantity(0, unit || "").slice(1).trim() || "a number";
  const per = !divided
    ? (DIVIDED.includes(unit)
      ? ", not per element: the sizes of this family do not count elements"
      : "")
    : divided === rows.length
    ? " per element"
    : ", per element where that is said";
  setCaption(
    perElement.querySelector("table"),
    `${metric} of ${family}, ${name}${per}: those that differ most first${left}.`,
  );
}

function elementRow(id, row, order, counted, direction, mixed) {
  const share = counted ? elements(data.cases[id][3]) : 1, base = row.get(order[0])?.value;
  const cells = order.map((arch) => {
    const cell = row.get(arch);
    if (!cell) return make("td", { class: "missing" }, "–");
    const gain = base > 0 && cell.value > 0
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
  if (!perElement) return;
  const [families, metrics] = perElement.querySelectorAll("select");
  fill(families, [...new Set(data.cases.map((names) => names[0]))].sort());
  const update = () => {
    const own = new Set(
      data.series.filter((entry) => data.cases[entry[0]][0] === families.value).map((entry) =>
        data.metrics[entry[1]][0]
      ),
    );
    fill(metrics, [...own].sort(), metrics.value || "instructions");
    showPerElement();
  };
  families.addEventListener("change", update);
  metrics.addEventListener("change", showPerElement);
  perElement.querySelector(".choices").hidden = false;
  perElement.addEventListener("toggle", update, { once: true });
}
