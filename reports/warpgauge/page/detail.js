// The fact behind a number: run, command and location, and its place in its series.
"use strict";

const factDialog = the("#fact", HTMLDialogElement);

/**
 * Shows the fact of a run, of those that the page has; null: of the newest. Returns which it is.
 * @param {number} number
 * @param {number | null} index
 */
function showFact(number, index) {
  const series = seriesOf(number);
  const last = series.runs.length - 1;
  const i = Math.min(Math.max(index ?? last, 0), last);
  const of = runOf(series.runs[i]);
  const figure = the("figure", HTMLElement, factDialog);
  the("h2", HTMLElement, factDialog).textContent = `${series.metric.id} of ${series.id}`;
  const code = (/** @type {string | null} */ text) => (text ? make("code", {}, text) : null);
  /** @type {[name: string, value: string | Node | null][]} */
  const rows = [
    [
      "Value",
      `${quantity(series.values[i], series.unit)}${
        typeof series.values[i] === "number" ? ` (${series.values[i]})` : ""
      }`,
    ],
    ["Interval, 95 %", intervalText(series, i)],
    ["Where", series.where],
    ["Budget", series.budgets[i] || "none"],
    ["Verdict", series.verdicts[i]],
    ["Reason", i === last ? series.reason : null],
    ["Confidence", series.confidences[i]],
    ["Disturbed by", series.disturbances[i]],
    ["Location", placeElement(series.places[i], of)],
    ["Command", code(repeat(series))],
    ["Run", code(of.id)],
    ["Time", of.time],
    ["Commit", make("span", {}, commitElement(of), of.dirty ? " with uncommitted changes" : "")],
    ["Toolkit", of.toolkit ? `CUDA ${of.toolkit}` : "unknown"],
    ["Flags", code(of.flags)],
    ["GPU", gpuText(series, of)],
    ["Machine code", code(series.code[i])],
    ["Means", series.metric.meaning],
    ["Cure", series.metric.cure],
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
  drawChart(chart, [series], series, {
    point: i,
    onPoint: (_, k) => {
      location.hash = `fact-${number}-${k + series.leftOut}`;
    },
  });
  factDialog.scrollTop = 0;
  return i;
}

/**
 * A run knows the driver of one GPU; the value may be of another one of the same machine.
 * @param {Series} series
 * @param {Run} of
 */
function gpuText(series, of) {
  if (series.device && series.device !== of.device) return series.device;
  return of.device ? `${of.device}, driver ${of.driver || "unknown"}` : "none";
}

/**
 * @param {Series} series
 * @param {number} i
 */
function intervalText(series, i) {
  const interval = series.intervals[i], value = series.values[i];
  if (!interval || typeof value !== "number") return null;
  return `${numberText(value - interval[0])} to ${quantity(value + interval[1], series.unit)}`;
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
