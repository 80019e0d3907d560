// Starts the page, and follows links to facts and trends: "#fact-12", "#fact-12-3", "#trend-12".
"use strict";

const perElement = document.getElementById("per-element");
const DIVIDED = ["wavefronts", "sectors", "requests", "instructions", "branches", "conflicts", "us"];
const SOURCES = ["cupti", "harness", "ptxas", "emulator"]; // the first that there is counts

function follow() {
  const found = /^#(fact|trend)-(\d{1,9})(?:-(\d{1,9}))?$/.exec(location.hash);
  if (!found || Number(found[2]) >= data.series.length) {
    if (factDialog.open) factDialog.close();
    return;
  }
  if (found[1] === "fact") {
    showFact(Number(found[2]), found[3] === undefined ? null : Number(found[3]));
  } else {
    if (factDialog.open) factDialog.close();
    showTrend(Number(found[2]));
    document.getElementById("trends").scrollIntoView();
    document.querySelector("#trend-choice select").focus({ preventScroll: true });
  }
}

function forgetHash() {
  if (location.hash.startsWith("#fact-")) history.replaceState(null, "", location.pathname + location.search);
}

function elements(size) {
  return (size.match(/\d{1,15}/g) || []).reduce((product, extent) => product * Number(extent), 1) || 1;
}

// The newest values of a family's cases by architecture; those that differ most come first.
function showPerElement() {
  const [family, metric] = [...perElement.querySelectorAll("select")].map((select) => select.value);
  const cases = new Map(), archs = new Set();
  data.series.forEach((entry, number) => {
    if (data.cases[entry[0]][0] !== family || data.metrics[entry[1]][0] !== metric || entry[2] < 0 || entry[3] < 0) return;
    const arch = data.archs[entry[2]], value = entry[6].at(-1);
    if (typeof value !== "number") return;
    archs.add(arch);
    const id = entry[0], row = cases.get(id) || cases.set(id, new Map()).get(id);
    const rank = SOURCES.indexOf(data.sources[entry[3]]), before = row.get(arch);
    if (!before || rank < before.rank) row.set(arch, { value, number, rank });
  });
  const generation = (arch) => Number((/\d+/.exec(arch) || [0])[0]);
  const order = [...archs].sort((a, b) => generation(a) - generation(b) || (a < b ? -1 : 1));
  const [, unit, direction] = data.metrics.find((row) => row[0] === metric) || [];
  const divided = DIVIDED.includes(unit);
  const spreadOf = (row) => { const v = [...row.values()].map((cell) => cell.value); return Math.min(...v) === 0 ? Math.max(...v) : Math.max(...v) / Math.min(...v) - 1; };
  const rows = [...cases].sort((a, b) => spreadOf(b[1]) - spreadOf(a[1])).slice(0, 40);
  const [head, body] = [perElement.querySelector("thead"), perElement.querySelector("tbody")];
  head.replaceChildren(make("tr", {}, make("th", { scope: "col" }, "Case"), ...order.map((arch) => make("th", { scope: "col" }, arch))));
  body.replaceChildren(...rows.map(([id, row]) => elementRow(id, row, order, divided, direction)));
  const left = cases.size > rows.length ? `; ${cases.size - rows.length} more cases differ less and are left out` : "";
  perElement.querySelector("caption").textContent =
    `${metric} of ${family}, ${quantity(0, unit || "").slice(1).trim() || "a number"}${divided ? " per element" : ""}: those that differ most first${left}.`;
}

function elementRow(id, row, order, divided, direction) {
  const [family, variant, type, size] = data.cases[id];
  const share = divided ? elements(size) : 1, base = row.get(order[0])?.value;
  const cells = order.map((arch) => {
    const cell = row.get(arch);
    if (!cell) return make("td", { class: "missing" }, "–");
    const gain = base > 0 && cell.value > 0 ? Math.max(-1, Math.min(1, Math.log2(cell.value / base) * (direction === "higher" ? 1 : -1))) : 0;
    const style = direction === "none" || !gain ? null :
      `background: color-mix(in srgb, var(--${gain > 0 ? "better" : "worse"}) ${Math.round(Math.abs(gain) * 55)}%, var(--paper))`;
    return make("td", { style }, make("a", { href: `#fact-${cell.number}` }, numberText(cell.value / share)));
  });
  return make("tr", {}, make("th", { scope: "row" }, make("code", { class: "case" }, `${family}.${variant}.${type}@${size}`)), ...cells);
}

function startPerElement() {
  if (!perElement) return;
  const [families, metrics] = perElement.querySelectorAll("select");
  fill(families, [...new Set(data.cases.map((names) => names[0]))].sort());
  const update = () => {
    const own = new Set(data.series.filter((entry) => data.cases[entry[0]][0] === families.value).map((entry) => data.metrics[entry[1]][0]));
    fill(metrics, [...own].sort(), metrics.value || "instructions");
    showPerElement();
  };
  families.addEventListener("change", update);
  metrics.addEventListener("change", showPerElement);
  perElement.querySelector(".choices").hidden = false;
  perElement.addEventListener("toggle", update, { once: true });
}

startFilter();
startTrends();
startPerElement();
addEventListener("hashchange", follow);
factDialog.addEventListener("close", forgetHash);
factDialog.addEventListener("click", (event) => { if (event.target === factDialog) factDialog.close(); });
follow();
