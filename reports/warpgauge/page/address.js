// The address bar names what is open, for links that last: #fact/ID/METRIC/ARCH/SOURCE/RUN,
// #trend/ID/METRIC/ARCH/SOURCE/DEVICE, #cases/METRIC/ARCH/BEFORE, #compare/A/B, #q=...&arch=...
// address.py writes them, too.
// The page's own links name series by their number here, #fact-12-3 and #trend-12, and stay short.
"use strict";

const NONE = "-"; // in the place of an architecture or a source that is not there
const address = { fact: "", cases: "", base: "" }; // of open dialogs, and of what lies below

/** @param {(string | null | undefined)[]} parts */
function joined(...parts) {
  return parts.map((part) => encodeURIComponent(part ?? NONE)).join("/");
}

/** @param {number} number */
function trendAddress(number) {
  const series = seriesOf(number);
  const device = series.device ? [series.device] : [];
  return joined("trend", series.id, series.metric.id, series.arch, series.source, ...device);
}

/**
 * @param {number} number
 * @param {number} index
 */
function factAddress(number, index) {
  const series = seriesOf(number);
  return joined(
    "fact",
    series.id,
    series.metric.id,
    series.arch,
    series.source,
    runOf(series.runs[index]).id,
  );
}

/**
 * Sets the address of a dialog, or of what lies below: "" where it is closed.
 * @param {keyof typeof address} where
 * @param {string} text
 */
function setAddress(where, text) {
  address[where] = text;
  const now = address.fact || address.cases || address.base;
  if (location.hash.slice(1) !== now) {
    history.replaceState(null, "", now ? `#${now}` : location.pathname + location.search);
  }
}

/**
 * The series that an address names: of several the one of the device, or the one that has the run,
 * or the one measured last. Gives its number, the place of the run, and in words what the page does
 * not have.
 * @param {string} id
 * @param {string} metric
 * @param {string} arch
 * @param {string} source
 * @param {{device?: string, wanted?: string}} of
 * @returns {{number?: number, index?: number | null, problem?: string}}
 */
function named(id, metric, arch, source, { device, wanted }) {
  const cases = data.cases.findIndex((_, i) => caseName(i) === id);
  if (cases < 0) return { problem: `This page has no case “${id}”.` };
  const isIt = (/** @type {Entry} */ entry) =>
    entry.case === cases &&
    data.metrics[entry.metric][0] === metric &&
    (data.archs[entry.arch] ?? NONE) === arch &&
    (data.sources[entry.source] ?? NONE) === source &&
    (device === undefined || data.devices[entry.device] === device);
  const found = allSeries.flatMap((entry, number) => (isIt(entry) ? [number] : []));
  const place = `on “${device ?? arch ?? ""}” from “${source ?? ""}”`;
  if (!found.length) return { problem: `This page has no “${metric ?? ""}” of ${id} ${place}.` };
  const last = (/** @type {number} */ number) => lastOf(data.axes[allSeries[number].axis]);
  const newest = found.reduce((best, number) => (last(number) > last(best) ? number : best));
  if (wanted === undefined) return { number: newest, index: null };
  for (const number of found) {
    const index = seriesOf(number).runs.findIndex((at) => runOf(at).id === wanted);
    if (index >= 0) return { number, index };
  }
  return {
    number: newest,
    index: null,
    problem: `This page has no value of the run “${wanted}” here; its newest one is shown.`,
  };
}

/**
 * Says in words what an address asks for in vain.
 * @param {string | null | undefined} problem
 */
function say(problem) {
  document.getElementById("address-problem")?.remove();
  if (!problem) return;
  const note = make("p", { id: "address-problem", class: "note", role: "alert" }, problem);
  the("#main", HTMLElement).prepend(note);
  factDialog.open
    ? the("h2", HTMLElement, factDialog).after(note)
    : note.scrollIntoView({ block: "center" });
}

/**
 * @param {string} id
 * @param {string} metric
 * @param {string} arch
 * @param {string} source
 * @param {string} [device]
 */
function followTrend(id, metric, arch, source, device) {
  const { number, problem } = named(id, metric, arch, source, { device });
  if (number !== undefined) openTrend(number);
  return problem;
}

/**
 * @param {string} id
 * @param {string} metric
 * @param {string} arch
 * @param {string} source
 * @param {string} wanted
 */
function followFact(id, metric, arch, source, wanted) {
  const { number, index, problem } = named(id, metric, arch, source, { wanted });
  if (number !== undefined) openFact(number, index);
  return problem;
}

/**
 * @param {number} number
 * @param {number | null} [index]
 */
function openFact(number, index) {
  setAddress("fact", factAddress(number, showFact(number, index ?? null)));
}

/** @param {number} number */
function openTrend(number) {
  reveal(the("#trends", HTMLElement));
  showTrend(number);
  setAddress("base", trendAddress(number));
  the("select", HTMLElement, trends.choice).focus({ preventScroll: true });
}

/**
 * @param {string} metric
 * @param {string} arch
 * @param {string | null} before
 */
function followCases(metric, arch, before = null) {
  if (!showCases(metric, arch, before)) {
    const between = before === null ? `on “${arch}”` : `on both “${before}” and “${arch}”`;
    return `This page has no case that has a value “${metric}” ${between}.`;
  }
  setAddress("cases", joined("cases", metric, arch, ...(before === null ? [] : [before])));
  return null;
}

/** @type {Record<string, (...names: any[]) => string | null | undefined>} */
const FOLLOWED = {
  fact: followFact,
  trend: followTrend,
  cases: followCases,
  compare: followCompare,
};

/** @param {string} part */
function nameFrom(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// The list of cases stays open below a fact, which closes onto it.
function follow() {
  const hash = location.hash.slice(1);
  const [kind, ...names] = hash.split("/").map(nameFrom);
  if (kind !== "fact" && !hash.startsWith("fact-") && factDialog.open) factDialog.close();
  if (kind !== "cases" && kind !== "fact" && !hash.startsWith("fact-") && casesDialog.open) {
    casesDialog.close();
  }
  say(null);
  say(followed(hash, kind, names));
}

/**
 * Opens what an address names; says what it lacks.
 * @param {string} hash
 * @param {string} kind
 * @param {string[]} names
 */
function followed(hash, kind, names) {
  const numbered = /^(fact|trend)-(\d{1,9})(?:-(\d{1,9}))?$/.exec(hash);
  if (numbered && Number(numbered[2]) < allSeries.length) {
    const number = Number(numbered[2]);
    if (numbered[1] === "trend") openTrend(number);
    else {
      openFact(
        number,
        numbered[3] === undefined ? null : Number(numbered[3]) - seriesOf(number).leftOut,
      );
    }
    return null;
  }
  if (Object.hasOwn(FOLLOWED, kind) && names.length) return FOLLOWED[kind](...names);
  if (isFilter(hash)) return followFilter(hash);
  const place = document.getElementById(nameFrom(hash));
  if (place) reveal(place);
  return !hash || place ? null : `This page has nothing at “#${nameFrom(hash)}”.`;
}

// Closing a dialog removes its address.
function startAddresses() {
  addEventListener("hashchange", follow);
  /** @type {[HTMLDialogElement, keyof typeof address][]} */
  const dialogs = [
    [factDialog, "fact"],
    [casesDialog, "cases"],
  ];
  for (const [dialog, where] of dialogs) {
    dialog.addEventListener("close", () => {
      if (!dialog.open) setAddress(where, "");
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
  }
  follow();
}
