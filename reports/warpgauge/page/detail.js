// The fact behind a number: run, command and location, and its place in its series.
"use strict";

const factDialog = the("#fact", HTMLDialogElement);

/**
 * Shows the fact of a run, of those that the page has; null: of the newest. Returns which it is.
 * @param {number} number
 * @param {number | null} index
 */
function showFact(number, index) {
  const one = series(number);
  const last = one.runs.length - 1;
  const i = Math.min(Math.max(index ?? last, 0), last);
  const of = run(one.runs[i]);
  const figure = the("figure", HTMLElement, factDialog);
  the("h2", HTMLElement, factDialog).textContent = `${one.metric.id} of ${one.id}`;
  const code = (/** @type {string | null} */ text) => (text ? make("code", {}, text) : null);
  /** @type {[name: string, value: string | Node | null][]} */
  const rows = [
    [
      "Value",
      `${quantity(one.values[i], one.unit)}${
        typeof one.values[i] === "number" ? ` (${one.values[i]})` : ""
      }`,
    ],
    ["Interval, 95 %", intervalText(one, i)],
    ["Where", one.where],
    ["Budget", one.budgets[i] || "none"],
    ["Verdict", one.verdicts[i]],
    ["Reason", i === last ? one.reason : null],
    ["Confidence", one.confidences[i]],
    ["Disturbed by", one.disturbances[i]],
    ["Location", placeElement(one.places[i], of)],
    ["Command", code(repeat(one))],
    ["Run", code(of.id)],
    ["Time", of.time],
    ["Commit", make("span", {}, commitElement(of), of.dirty ? " with uncommitted changes" : "")],
    ["Toolkit", of.toolkit ? `CUDA ${of.toolkit}` : "unknown"],
    ["Flags", code(of.flags)],
    ["GPU", gpuText(one, of)],
    ["Machine code", code(one.code[i])],
    ["Means", one.metric.meaning],
    ["Cure", one.metric.cure],
  ];
  the("dl", HTMLElement, factDialog).replaceChildren(
    ...rows.filter(([, value]) => value)
      .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]),
  );
  if (!factDialog.open) factDialog.showModal();
  const chart = make("div", {});
  removeCharts(figure);
  const trend = make("button", { type: "button" }, "Compare with the other variants");
  trend.addEventListener("click", () => {
    location.hash = `trend-${number}`;
  });
  figure.replaceChildren(chart, make("p", {}, trend));
  drawChart(chart, [one], one, {
    point: i,
    onPoint: (_, k) => {
      location.hash = `fact-${number}-${k + one.leftOut}`;
    },
  });
  factDialog.scrollTop = 0;
  return i;
}

/**
 * A run knows the driver of one GPU; the value may be of another one of the same machine.
 * @param {Series} one
 * @param {Run} of
 */
function gpuText(one, of) {
  if (one.device && one.device !== of.device) return one.device;
  return of.device ? `${of.device}, driver ${of.driver || "unknown"}` : "none";
}

/**
 * @param {Series} one
 * @param {number} i
 */
function intervalText(one, i) {
  const interval = one.intervals[i], value = one.values[i];
  if (!interval || typeof value !== "number") return null;
  return `${numberText(value - interval[0])} to ${quantity(value + interval[1], one.unit)}`;
}
