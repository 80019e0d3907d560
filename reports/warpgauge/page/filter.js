// Search and filter: hides rows of the written tables, and lists what it finds of all series.
"use strict";

const PAGE_ROWS = 50;
const filterForm = the("#filter", HTMLFormElement);
const fields = /** @type {Record<string, HTMLInputElement>} */ (
  /** @type {unknown} */ (filterForm.elements)
);
/**
 * @type {{
 *   body: Element, more: HTMLElement, found: number[], shown: number, texts: string[] | null,
 *   asked: string | null,
 * }}
 */
const every = {
  body: the("#every-table tbody", HTMLTableSectionElement),
  more: the("#more", HTMLElement),
  found: [],
  shown: 0,
  texts: null,
  asked: null,
};

/** @typedef {ReturnType<typeof wish>} Wish */

function wish() {
  const of = (/** @type {string} */ name) => fields[name].value;
  const terms = of("text").toLowerCase().split(/\s+/).filter(Boolean);
  return {
    terms,
    family: of("family"),
    metric: of("metric"),
    arch: of("arch"),
    worse: fields.worse.checked,
  };
}

/** @param {Wish} wanted */
function isWish(wanted) {
  return Boolean(
    wanted.terms.length || wanted.family || wanted.metric || wanted.arch || wanted.worse,
  );
}

function applyFilter() {
  const wanted = wish();
  every.asked = filterAddress();
  let here = 0, all = 0;
  for (const part of document.querySelectorAll("[data-filtered]")) {
    let left = 0;
    /** @type {NodeListOf<HTMLElement>} */
    const rows = part.querySelectorAll("[data-id]");
    for (const row of rows) {
      row.hidden = !rowMatches(row, wanted);
      if (!row.hidden) left += 1;
      all += 1;
    }
    here += left;
    part.classList.toggle("nothing", left === 0);
  }
  openFound(isWish(wanted));
  findSeries(wanted);
  countHits(isWish(wanted));
  const found = every.found.length.toLocaleString("en"),
    total = allSeries.length.toLocaleString("en");
  fields.found.value = `${here.toLocaleString("en")} of ${
    all.toLocaleString("en")
  } rows, ${found} of ${total} values`;
}

/** Folds that a search opened or closed, and whether they were open before it. */
const folds = /** @type {Map<HTMLDetailsElement, boolean>} */ (new Map());

/**
 * Opens the folds in which the filter finds something, however deep, and closes the others; as they
 * were before, once nothing is searched for.
 * @param {boolean} wanted
 */
function openFound(wanted) {
  /** @type {NodeListOf<HTMLDetailsElement>} */
  const parts = document.querySelectorAll("details:has([data-filtered])");
  for (const fold of parts) {
    if (wanted) {
      if (!folds.has(fold)) folds.set(fold, fold.open);
      fold.open = fold.querySelector("[data-filtered] [data-id]:not([hidden])") !== null;
    } else fold.open = folds.get(fold) ?? fold.open;
  }
  if (!wanted) folds.clear();
}

/** @returns {NodeListOf<HTMLAnchorElement>} */
function navigation() {
  return document.querySelectorAll("nav a");
}

/**
 * Beside the name of each part of the page: how much of it the filter finds.
 * @param {boolean} wanted
 */
function countHits(wanted) {
  for (const link of navigation()) {
    link.querySelector(".hits")?.remove();
    const part = the(link.hash, HTMLElement);
    const isEvery = part.id === "every";
    if (!wanted || !(isEvery || part.querySelector("[data-filtered]"))) continue;
    const hits = isEvery
      ? every.found.length
      : part.querySelectorAll("[data-filtered] [data-id]:not([hidden])").length;
    link.append(make("span", { class: "hits" }, ` ${hits.toLocaleString("en")}`));
  }
}

/**
 * @param {HTMLElement} row
 * @param {Wish} wanted
 */
function rowMatches(row, wanted) {
  const of = row.dataset;
  return Boolean(
    (!wanted.family || of.family === wanted.family) &&
      (!wanted.metric || of.metric === wanted.metric) &&
      (!wanted.arch || of.archs?.split(" ").includes(wanted.arch)) &&
      (!wanted.worse || "worse" in of) &&
      wanted.terms.every((term) => row.textContent.toLowerCase().includes(term)),
  );
}

/**
 * Bad ones first, then those that changed.
 * @param {Wish} wanted
 */
function findSeries(wanted) {
  const texts = every.texts ??= allSeries.map(seriesText);
  /** @type {number[]} */
  const found = [];
  allSeries.forEach((entry, number) => {
    if (wanted.family && data.cases[entry.case][0] !== wanted.family) return;
    if (wanted.metric && data.metrics[entry.metric][0] !== wanted.metric) return;
    if (wanted.arch && data.archs[entry.arch] !== wanted.arch) return;
    if (wanted.worse && !isWorse(entry)) return;
    if (!wanted.terms.every((term) => texts[number].includes(term))) return;
    found.push(number);
  });
  const rank = new Map(found.map((number) => [number, urgency(number)]));
  every.found = found.sort((a, b) => valueIn(rank, b) - valueIn(rank, a) || a - b);
  every.shown = 0;
  every.body.replaceChildren();
  showMore();
}

/** @param {Entry} entry */
function isWorse(entry) {
  return isBad(entry) || entry.changes.at(-1)?.[1] === -1;
}

/** @param {Entry} entry */
function seriesText(entry) {
  const [family, variant, type, size] = data.cases[entry.case];
  const texts = [
    `${family}.${variant}.${type}@${size}`,
    data.metrics[entry.metric][0],
    placeOf(entry),
    data.texts[entry.verdicts.at(-1) ?? -1],
    data.texts[entry.places.at(-1) ?? -1],
  ];
  return texts.filter(Boolean).join(" ").toLowerCase();
}

function showMore() {
  const next = every.found.slice(every.shown, every.shown + PAGE_ROWS);
  every.body.append(...next.map(everyRow));
  every.shown += next.length;
  every.more.hidden = every.shown >= every.found.length;
  every.more.textContent = `Show more (${
    (every.found.length - every.shown).toLocaleString("en")
  } left)`;
  if (!every.found.length) {
    every.body.append(make("tr", {}, make("td", { colspan: 5 }, "Nothing matches the filter.")));
  }
}

// What is taken of the table: all that the filter finds, with numbers as they are.
function everyData() {
  const head = ["case", "metric", "where", "value", "unit", "verdict", "last seen"];
  return [
    head,
    ...every.found.map((number) => {
      const series = seriesOf(number);
      return [
        series.id,
        series.metric.id,
        series.where,
        series.values.at(-1),
        series.unit,
        series.verdicts.at(-1),
        night(runOf(lastOf(series.runs))),
      ];
    }),
  ];
}

// The address of a filter: its fields by name, "q" for the words.
const addressName = (
  /** @type {HTMLInputElement} */ field,
) => (field.name === "text" ? "q" : field.name);
const filterFields = () =>
  [.../** @type {Iterable<HTMLInputElement>} */ (filterForm.elements)].filter((field) =>
    field.name && field.matches("input, select")
  );

function filterAddress() {
  const values = filterFields().map((
    field,
  ) => [
    addressName(field),
    field.type === "checkbox" ? (field.checked ? "1" : "") : field.value.trim(),
  ]);
  return values.filter(([, value]) => value).map((pair) => pair.map(encodeURIComponent).join("="))
    .join("&");
}

/** @param {string} hash */
function isFilter(hash) {
  return filterFields().some((field) => hash.startsWith(`${addressName(field)}=`));
}

/**
 * Sets the filter from its address; says which of it the page does not know.
 * @param {string} hash
 */
function followFilter(hash) {
  const asked = new Map(
    hash.split("&").map((pair) => [pair.split("=", 1)[0], nameFrom(pair.replace(/^[^=]*=?/, ""))]),
  );
  const unknown = [];
  for (const field of filterFields()) {
    const value = asked.get(addressName(field)) ?? "";
    asked.delete(addressName(field));
    if (field.type === "checkbox") field.checked = value === "1";
    else field.value = value;
    if (field.matches("select") && field.value !== value) {
      unknown.push(`no ${field.name} “${value}”`);
      field.value = "";
    }
  }
  for (const name of asked.keys()) unknown.push(`no filter “${nameFrom(name)}”`);
  applyFilter();
  setAddress("base", filterAddress());
  return unknown.length ? `This page has ${unknown.join(", and ")}.` : null;
}

/** @param {number} number */
function everyRow(number) {
  const series = seriesOf(number), verdict = series.verdicts.at(-1);
  const bad = isBad(allSeries[number]), now = isOfLastNight(allSeries[number]);
  const value = make(
    "a",
    { class: "number", href: `#fact-${number}` },
    quantity(series.values.at(-1), series.unit),
  );
  return make(
    "tr",
    {},
    make(
      "th",
      { scope: "row" },
      make("code", { class: "case" }, ...breakable(series.id)),
      " ",
      make(
        "span",
        { class: "metric", title: series.metric.meaning },
        ...breakable(series.metric.id),
      ),
    ),
    make("td", { "data-label": "where" }, series.where),
    make("td", { "data-label": "value", class: "values" }, value),
    make(
      "td",
      { "data-label": "verdict", class: bad ? "worse" : "" },
      bad ? `✖ ${verdict}` : verdict || "",
    ),
    make(
      "td",
      { "data-label": "last seen", class: now ? "" : "faint" },
      `${night(runOf(lastOf(series.runs)))}${now ? "" : ", not in the last night"}`,
    ),
  );
}

function startFilter() {
  filterForm.hidden = false;
  let waiting = 0;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(changed, 120);
  };
  // Leaving a field is a "change", too: rows that stay are not replaced under the pointer.
  const changed = () => {
    if (filterAddress() === every.asked) return;
    applyFilter();
    setAddress("base", filterAddress());
  };
  // What is chosen by other ways than keys and pointer may come as "change" alone.
  for (const kind of ["input", "change"]) filterForm.addEventListener(kind, soon);
  filterForm.addEventListener("reset", () => setTimeout(changed));
  filterForm.addEventListener("submit", (event) => {
    event.preventDefault();
    changed();
  });
  every.more.addEventListener("click", showMore);
  applyFilter();
}
