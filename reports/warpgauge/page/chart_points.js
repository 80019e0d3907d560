// The points of charts: reading a run, picking a value, and the words of a change.
"use strict";

/**
 * The values of all lines in a run, each with a link to its fact.
 * @param {Drawn} drawn
 * @param {number} place
 */
function readOut(drawn, place) {
  if (drawn.read === place) return;
  drawn.read = place;
  const of = runOf(drawn.runs[place]);
  const values = drawn.lines
    .filter((line) => line.indices.has(place))
    .map((line) => {
      const i = valueIn(line.indices, place),
        { series } = line;
      const share = drawn.view.percent && typeof line.values[place] === "number"
        ? `, ${Number(line.values[place].toPrecision(4))} %`
        : "";
      const interval = intervalText(series, i);
      const more = [
        interval && `95 %: ${interval}`,
        series.disturbances[i] && `disturbed by ${series.disturbances[i]}`,
      ]
        .filter(Boolean)
        .join("; ");
      return make(
        "span",
        {},
        lineKey(line.number),
        ` ${series.variant} `,
        make(
          "a",
          { class: "number", href: `#fact-${series.number}-${i + series.leftOut}` },
          quantity(series.values[i], series.unit),
        ),
        `${share}${more ? ` (${more})` : ""}`,
      );
    });
  drawn.readout.replaceChildren(
    make("b", {}, moment(of)),
    of.commit ? ` commit ${of.commit.slice(0, 10)}` : "",
    ...values,
  );
  drawn.onRead?.(place);
}

/**
 * The point nearest to the pointer.
 * @param {Drawn} drawn
 * @param {uPlot} chart
 * @param {Line[]} lines
 * @param {MouseEvent} event
 */
function pick(drawn, chart, lines, event) {
  const box = chart.over.getBoundingClientRect();
  const [px, py] = [event.clientX - box.left, event.clientY - box.top];
  /** @type {{line: Line, place: number, distance: number} | null} */
  let best = null;
  for (const line of lines) {
    for (const [place, value] of line.values.entries()) {
      if (typeof value !== "number") continue;
      const distance = Math.hypot(
        chart.valToPos(place, "x") - px,
        (chart.valToPos(value, "y") - py) / 2,
      );
      if (!best || distance < best.distance) best = { line, place, distance };
    }
  }
  if (best) drawn.onPoint?.(best.line.series, valueIn(best.line.indices, best.place));
}

/**
 * The commit of a change: the one that the repository knows to be to blame, or that of the run.
 * @param {Series} series
 * @param {number} index
 * @param {Run} run
 */
function commitText(series, index, run) {
  const blamed = data.blamed[series.number]?.[index + series.leftOut];
  if (blamed) return blamed.startsWith("one of ") ? blamed : `commit ${blamed}`;
  return run.commit ? `commit ${run.commit.slice(0, 10)}` : null;
}

/**
 * The cause of a change, and the commit, toolkit and driver that it came with.
 * @param {Series} series
 * @param {Change} change
 */
function changeText(series, change) {
  const now = runOf(series.runs[change.index]);
  const parts = [
    night(now),
    series.variant,
    change.better < 0 ? "worse" : change.better > 0 ? "better" : "changed",
    `by ${change.cause}`,
    commitText(series, change.index, now),
    now.toolkit ? `CUDA ${now.toolkit}` : null,
    series.device && now.driver ? `driver ${now.driver}` : null,
  ];
  return parts.filter(Boolean).join(", ");
}

/**
 * Reads a run without a pointer; it comes into view where it is not.
 * @param {Drawn} drawn
 * @param {number} place
 */
function readAt(drawn, place) {
  const { min, max } = drawn.plots[0].scales.x;
  if (place < min || place > max) {
    showRange(drawn, place - (max - min) / 2, place + (max - min) / 2);
  }
  for (const chart of drawn.plots) {
    chart.batch(() => chart.setCursor({ left: chart.valToPos(place, "x"), top: 0 }));
  }
  readOut(drawn, place);
}
