// The section of trends: a chart for each problem, metric and place, with a line for each variant.
"use strict";

const MOST_LINES = 10;
const FIRST_LINES = 6;
/**
 * @type {{
 *   groups: Map<string, Map<string, Map<string, number[]>>>, choice: HTMLElement,
 *   figure: HTMLElement, group: number[], shown: number[], marked: number, view: View,
 * }}
 */
const trends = {
  groups: new Map(),
  choice: the("#trend-choice", HTMLElement),
  figure: the("#trend", HTMLElement),
  group: [],
  shown: [],
  marked: -1,
  view: { ...PLAIN },
};

/** @param {Entry} entry */
function problemOf(entry) {
  const [family, , type, size] = data.cases[entry.case];
  return `${family}, ${type}@${size}`;
}

/** @param {Entry} entry */
function placeOf(entry) {
  return data.texts[entry.where];
}

// Problem, then metric, then place, to the numbers of series; those that changed or are bad first.
function groupTrends() {
  allSeries.forEach((entry, number) => {
    const problem = problemOf(entry),
      metric = data.metrics[entry.metric][0],
      place = placeOf(entry);
    const places = mapIn(mapIn(trends.groups, problem), metric);
    const numbers = places.get(place) ?? [];
    numbers.push(number);
    places.set(place, numbers);
  });
}

/** @param {number} number */
function urgency(number) {
  const entry = allSeries[number];
  return (isBad(entry) ? 2 : 0) + (entry.changes.length ? 1 : 0);
}

/**
 * Over its budget, or an error, in the last night.
 * @param {Entry} entry
 */
function isBad(entry) {
  const verdict = data.texts[entry.verdicts.at(-1) ?? -1];
  return (verdict === "fail" || verdict === "error") && isOfLastNight(entry);
}

/**
 * @param {HTMLSelectElement} select
 * @param {string[]} names
 * @param {string} [chosen]
 */
function fill(select, names, chosen) {
  select.replaceChildren(...names.map((name) => make("option", {}, name)));
  if (chosen !== undefined && names.includes(chosen)) select.value = chosen;
  return select.value;
}

/**
 * @param {string} problem
 * @param {string} metric
 * @param {string} place
 */
function chooseTrend(problem, metric, place) {
  const [problems, metrics, places] = trends.choice.querySelectorAll("select");
  problem = fill(problems, [...trends.groups.keys()], problem);
  const ofProblem = valueIn(trends.groups, problem);
  metric = fill(metrics, [...ofProblem.keys()], metric);
  const ofMetric = valueIn(ofProblem, metric);
  place = fill(places, [...ofMetric.keys()], place);
  return valueIn(ofMetric, place).toSorted((a, b) => urgency(b) - urgency(a) || a - b);
}

/**
 * Shows the chart that a series is on, and marks it.
 * @param {number} number
 */
function showTrend(number) {
  const entry = allSeries[number];
  const group = chooseTrend(problemOf(entry), data.metrics[entry.metric][0], placeOf(entry));
  startTrend([number, ...group.filter((other) => other !== number)], number);
}

/**
 * @param {number[]} group
 * @param {number} [marked]
 */
function startTrend(group, marked) {
  trends.group = group;
  trends.shown = group.slice(0, FIRST_LINES);
  trends.marked = marked ?? group[0];
  Object.assign(trends.view, { log: null, range: null });
  drawTrend();
}

// The runs of all variants: lines may come and go without moving the others.
function drawTrend() {
  const lines = trends.shown.map(seriesOf), marked = seriesOf(trends.marked);
  const runs = [...new Set(trends.group.flatMap((number) => data.axes[allSeries[number].axis]))]
    .sort((a, b) => a - b);
  const chart = make("div", {});
  removeCharts(trends.figure);
  trends.figure.replaceChildren(
    make(
      "figcaption",
      {},
      make("b", {}, `${marked.metric.id} of ${problemOf(allSeries[trends.marked])}`),
      ` on ${marked.where}. `,
      make("span", { class: "faint" }, marked.metric.meaning),
    ),
    chart,
    legend(),
    changeList(lines),
    valueTable(marked),
  );
  const onPoint = (/** @type {Series} */ series, /** @type {number} */ i) => {
    location.hash = `fact-${series.number}-${i + series.leftOut}`;
  };
  const drawn = drawChart(chart, lines, marked, { runs, onPoint, view: trends.view });
  if (drawn.plots.length) chart.append(viewBar(drawn, drawAgain));
}

/**
 * With the focus where it was.
 * @param {string} name
 */
function drawAgain(name) {
  drawTrend();
  /** @type {HTMLElement | null} */
  const box = trends.figure.querySelector(`.view-bar [name="${name}"]`);
  box?.focus();
}

// A box for each variant, and a button that marks it.
function legend() {
  const full = trends.shown.length >= MOST_LINES;
  const items = trends.group.map((number) => {
    const series = seriesOf(number), place = trends.shown.indexOf(number);
    const box = make("input", {
      type: "checkbox",
      "aria-label": `show ${series.variant}`,
      checked: place >= 0 ? "" : null,
      disabled: full && place < 0 ? "" : null,
    });
    box.addEventListener("change", () => {
      trends.shown = box.checked
        ? [...trends.shown, number]
        : trends.shown.filter((other) => other !== number);
      if (!trends.shown.length) trends.shown = [number];
      if (!trends.shown.includes(trends.marked)) trends.marked = trends.shown[0];
      drawTrend();
      the(`[data-series="${number}"] input`, HTMLElement, trends.figure).focus();
    });
    const button = make("button", {
      type: "button",
      "aria-pressed": String(number === trends.marked),
      title: "mark: show its budget and values",
    }, series.variant);
    button.addEventListener("click", () => {
      trends.marked = number;
      if (place < 0) trends.shown = [...trends.shown.slice(0, MOST_LINES - 1), number];
      drawTrend();
      the(`[data-series="${number}"] button`, HTMLElement, trends.figure).focus();
    });
    return make(
      "li",
      { "data-series": number },
      box,
      lineKey(place),
      button,
      make(
        "a",
        { class: "number", href: `#fact-${number}` },
        quantity(series.values.at(-1), series.unit),
      ),
    );
  });
  const note = full ? make("li", { class: "faint" }, `At most ${MOST_LINES} lines at once.`) : null;
  return make("ul", { class: "legend" }, ...items, note);
}

/** @param {Series[]} lines */
function changeList(lines) {
  const found = lines.flatMap((series) =>
    series.changes.map((change) => ({ series, change, text: changeText(series, change) }))
  );
  if (!found.length) return make("p", { class: "faint" }, "None of these lines changed.");
  found.sort((a, b) => b.series.runs[b.change.index] - a.series.runs[a.change.index]);
  const items = found.slice(0, 12).map(({ series, change, text }) =>
    make(
      "li",
      {},
      "◆ ",
      make("a", { href: `#fact-${series.number}-${change.index + series.leftOut}` }, text),
    )
  );
  if (found.length > 12) {
    items.push(make("li", { class: "faint" }, `and ${found.length - 12} earlier ones`));
  }
  return make("ul", { class: "plain" }, ...items);
}

/** @param {Series} series */
function valueTable(series) {
  const rows = [];
  for (let i = series.runs.length - 1; i >= 0 && rows.length < 30; i--) {
    const of = runOf(series.runs[i]);
    rows.push(
      make(
        "tr",
        {},
        make("th", { scope: "row" }, moment(of)),
        make("td", {}, of.commit ? of.commit.slice(0, 10) : "–"),
        make(
          "td",
          {},
          make(
            "a",
            { class: "number", href: `#fact-${series.number}-${i + series.leftOut}` },
            quantity(series.values[i], series.unit),
          ),
        ),
        make("td", {}, series.verdicts[i] || ""),
      ),
    );
  }
  const head = make(
    "tr",
    {},
    ...["Run (UTC)", "Commit", "Value", "Verdict"].map((text) =>
      make("th", { scope: "col" }, text)
    ),
  );
  return make(
    "details",
    {},
    make("summary", {}, `The newest values of ${series.variant} as a table`),
    takeable(
      make("table", { class: "narrow" }, make("thead", {}, head), make("tbody", {}, ...rows)),
    ),
  );
}

function startTrends() {
  groupTrends();
  trends.choice.hidden = false;
  const numbers = allSeries.map((_, number) => number);
  const first = numbers.reduce(
    (best, number) => (urgency(number) > urgency(best) ? number : best),
    0,
  );
  /** @type {HTMLAnchorElement | null} */
  const link = document.querySelector('#changes a[href^="#trend-"], #budget a[href^="#fact-"]');
  showTrend(link ? Number(/\d+/.exec(link.hash)?.[0]) : first);
  trends.choice.addEventListener("change", () => {
    const [problem, metric, place] = [...trends.choice.querySelectorAll("select")].map((select) =>
      select.value
    );
    startTrend(chooseTrend(problem, metric, place));
    setAddress("base", trendAddress(trends.marked));
  });
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawTrend, 150);
  });
}
