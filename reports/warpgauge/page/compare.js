// Any two nights beside each other: what differs, by how much, and why where that is known.
"use strict";

/**
 * @typedef {{from: number, to: number}} Night its first and its last run
 * @typedef {{
 *   number: number, i: number, k: number, old: Value | undefined, now: Value | undefined,
 *   cause?: string, judged?: number,
 * }} Compared a series that differs, with its places in both nights
 */

const compareSection = document.getElementById("compare");
/** @type {{rows: Compared[], places: Map<string, number>}} */
const compared = { rows: [], places: new Map() };

// The nights that the page covers, the oldest first, as numbers of their runs.
const nights = (() => {
  let end = data.runs.length;
  return data.nights
    .toReversed()
    .map((count) => ({ from: end -= count, to: end + count - 1 }))
    .toReversed();
})();

/** @param {Night} night */
function nightName({ from }) {
  return runOf(from).time.slice(0, 16);
}

/**
 * As people read it: with the hour only where a day has several.
 * @param {Night} night
 */
function nightText({ from }) {
  const text = night(runOf(from));
  return nights.filter((other) => night(runOf(other.from)) === text).length > 1
    ? moment(runOf(from))
    : text;
}

/**
 * The newest night with a run of such a time: a day, or a day and an hour.
 * @param {string} name
 */
function nightFrom(name) {
  return nights.findLast(({ from, to }) =>
    data.runs.slice(from, to + 1).some(([, time]) => time.startsWith(name))
  );
}

/**
 * The place of a night's newest run on an axis of series; -1 where it has none.
 * @param {number} axis
 * @param {Night} night
 */
function placeOn(axis, { from, to }) {
  const key = `${axis} ${from}`;
  const place = compared.places.get(key) ??
    data.axes[axis].findLastIndex((at) => at >= from && at <= to);
  compared.places.set(key, place);
  return place;
}

/**
 * @param {any[]} lengths
 * @param {number} place
 * @returns {Value}
 */
function valueAt(lengths, place) {
  let i = 0;
  for (let left = place; i + 1 < lengths.length && left >= lengths[i + 1]; i += 2) {
    left -= lengths[i + 1];
  }
  return lengths[i];
}

/**
 * A row for each series that differs; a value is undefined where a night has none.
 * @param {Night} before
 * @param {Night} after
 */
function differences(before, after) {
  /** @type {{rows: Compared[], same: number}} */
  const found = { rows: [], same: 0 };
  allSeries.forEach((entry, number) => {
    const [i, k] = [placeOn(entry.axis, before), placeOn(entry.axis, after)];
    const [old, now] = [i, k].map((at) => (at < 0 ? undefined : valueAt(entry.values, at)));
    if (old === undefined && now === undefined) return;
    if (old === now) found.same += 1;
    else {
      found.rows.push({
        number,
        i,
        k,
        old,
        now,
        ...(i < 0 || k < 0 ? {} : changeBetween(entry, Math.min(i, k), Math.max(i, k))),
      });
    }
  });
  const size = (/** @type {Compared} */ { old, now }) =>
    typeof old === "number" && typeof now === "number" && old > 0 && now > 0
      ? Math.abs(Math.log(now / old))
      : 1e9;
  const order = new Map(
    found.rows.map((row) => [row, [rank(row), Math.abs(step(row)), size(row), -row.number]]),
  );
  found.rows.sort((a, b) => {
    const [ofA, ofB] = [valueIn(order, a), valueIn(order, b)];
    return ofA.map((_, i) => ofB[i] - ofA[i]).find(Boolean) || 0;
  });
  return found;
}

/**
 * Known causes first, then counts that need one, then what may be noise, then what one night lacks.
 * @param {Compared} row
 */
function rank(row) {
  if (row.i < 0 || row.k < 0) return 0;
  return row.cause ? 3 : isExact(row.number) ? 2 : 1;
}

/**
 * 1 where the value of the second night is better, -1 where it is worse; 0 where it is neither, as
 * of words and of metrics without a better direction.
 * @param {Compared} row
 */
function step({ number, old, now }) {
  if (typeof old !== "number" || typeof now !== "number") return 0;
  const direction = data.metrics[allSeries[number].metric][2];
  return Math.sign(now - old) * (direction === "higher" ? 1 : direction === "lower" ? -1 : 0);
}

/** @param {number} number */
function isExact(number) {
  return data.metrics[allSeries[number].metric][3] === "exact";
}

/**
 * The cause of the last change between two places, and whether it was found to be better (1), worse
 * (-1) or neither (0).
 * @param {Entry} entry
 * @param {number} from
 * @param {number} to
 */
function changeBetween(entry, from, to) {
  const found = entry.changes.findLast(([index]) => index > from && index <= to);
  return found && { cause: found[2], judged: found[1] };
}

/**
 * What the change of a row is: what the machine moved is neither worse nor better.
 * @param {Compared} row
 */
function markOf(row) {
  if (row.cause === "driver" || row.cause === "environment") return "moved";
  if (row.judged === 0) return "changed";
  return step(row) > 0 ? "better" : "worse";
}

/** @param {Compared} row */
function why(row) {
  if (row.i < 0 || row.k < 0) {
    return row.i < 0 ? "not measured in the first" : "not measured in the second";
  }
  if (row.cause) return row.cause;
  return isExact(row.number) ? "not known" : "no change found";
}

/** @param {Compared} row */
function comparedRow(row) {
  const series = seriesOf(row.number);
  const { old, now } = row;
  const counts = step(row) && rank(row) > 1;
  const word = markOf(row);
  const isJudged = word === "better" || word === "worse";
  /**
   * @param {string} label
   * @param {Value | undefined} of
   * @param {number} place
   */
  const value = (label, of, place) =>
    make(
      "td",
      { "data-label": label, class: "values" },
      place < 0 ? "–" : make(
        "a",
        { class: "number", href: `#fact-${row.number}-${place + series.leftOut}` },
        quantity(of, series.unit),
      ),
    );
  const areNumbers = typeof old === "number" && typeof now === "number";
  const isOfBoth = old != null && now != null;
  const change = areNumbers ? changedBy(old, now) : isOfBoth ? "another word" : "";
  return make(
    "tr",
    {},
    make(
      "th",
      { scope: "row" },
      make("code", { class: "case" }, series.id),
      " ",
      make("span", { class: "metric" }, series.metric.id),
    ),
    make("td", { "data-label": "where" }, series.where),
    value("before", old, row.i),
    value("after", now, row.k),
    make(
      "td",
      { "data-label": "change", class: counts && isJudged ? word : null },
      `${counts ? `${word}, ` : ""}${change}`,
    ),
    make("td", { "data-label": "why", class: row.cause ? null : "faint" }, why(row)),
  );
}

/**
 * @param {HTMLElement} section
 * @param {Night} before
 * @param {Night} after
 */
function compareNights(section, before, after) {
  const { rows, same } = differences(before, after);
  const only = (/** @type {"i" | "k"} */ place) => rows.filter((row) => row[place] < 0).length;
  const both = rows.length - only("i") - only("k"),
    caused = rows.filter((row) => row.cause).length;
  const counted = (/** @type {number} */ number) => number.toLocaleString("en");
  const table = the("table", HTMLTableElement, section),
    more = the(".more", HTMLElement, section);
  setCaption(
    table,
    `${nightText(before)} beside ${nightText(after)}: ${counted(both)} values differ, ` +
      `${counted(caused)} of them by a known cause; ${counted(same)} are the same; ` +
      `${counted(only("k"))} are only in the first, ${counted(only("i"))} only in the second.`,
  );
  const body = the("tbody", HTMLElement, table);
  body.replaceChildren();
  const showNext = () => {
    const next = rows.slice(body.children.length, body.children.length + PAGE_ROWS);
    body.append(...next.map(comparedRow));
    more.hidden = body.children.length >= rows.length;
    more.textContent = `Show more (${counted(rows.length - body.children.length)} left)`;
  };
  more.onclick = showNext;
  compared.rows = rows;
  showNext();
  table.hidden = false;
}

// What is taken of the table: all of its rows, with numbers as they are.
function comparedData() {
  const head = ["case", "metric", "where", "before", "after", "unit", "why"];
  return [
    head,
    ...compared.rows.map((row) => {
      const series = seriesOf(row.number);
      return [series.id, series.metric.id, series.where, row.old, row.now, series.unit, why(row)];
    }),
  ];
}

/**
 * @param {string} first
 * @param {string} second
 */
function followCompare(first, second) {
  if (!compareSection) return "This page has one night only: there is nothing to compare it with.";
  const selects = compareSection.querySelectorAll("select");
  const chosen = [];
  for (const name of [first, second]) {
    const found = name ? nightFrom(name) : undefined;
    if (!found) {
      const range = `${nightText(nights[0])} to ${nightText(lastOf(nights))}`;
      return `This page has no night “${name ?? ""}”; it has ${range}.`;
    }
    chosen.push(nightName(found));
  }
  chosen.forEach((name, i) => {
    selects[i].value = name;
  });
  openCompared(compareSection);
  reveal(compareSection);
  return null;
}

/** @param {HTMLElement} section */
function openCompared(section) {
  const names = [...section.querySelectorAll("select")].map((select) => select.value);
  const [before, after] = names.map(nightFrom);
  if (before && after) compareNights(section, before, after);
  setAddress("base", joined("compare", ...names));
}

function startCompare() {
  if (!compareSection) return;
  const selects = compareSection.querySelectorAll("select");
  selects.forEach((select, i) => {
    select.replaceChildren(
      ...nights
        .toReversed()
        .map((shown) => make("option", { value: nightName(shown) }, nightText(shown))),
    );
    select.selectedIndex = 1 - i;
  });
  const form = the("form", HTMLFormElement, compareSection);
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    openCompared(compareSection);
  });
}
