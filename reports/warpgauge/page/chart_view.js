// How a chart is seen: zoom and pan, a log scale, shares of the first value, one chart or many.
"use strict";

/**
 * @param {Drawn} drawn
 * @param {[low: number, high: number]} range
 */
function isWhole(drawn, [low, high]) {
  return low <= -0.5 && high >= drawn.runs.length - 0.5;
}

/**
 * A zoom holds for all charts of a figure, and while lines come and go.
 * @param {Drawn} drawn
 * @param {uPlot} chart
 */
function rememberRange(drawn, chart) {
  const { min, max } = chart.scales.x;
  drawn.view.range = isWhole(drawn, [min, max]) ? null : [min, max];
  drawn.onRange?.();
}

/**
 * @param {Drawn} drawn
 * @param {number} low
 * @param {number} high
 */
function showRange(drawn, low, high) {
  for (const chart of drawn.plots) chart.setScale("x", { min: low, max: high });
}

/**
 * Zooms by a factor (below 1: closer) and moves by a share of what is shown.
 * @param {Drawn} drawn
 * @param {number} factor
 * @param {number} share
 */
function changeRange(drawn, factor, share) {
  const { min, max } = drawn.plots[0].scales.x;
  const half = ((max - min) / 2) * factor,
    middle = (min + max) / 2 + (max - min) * share;
  showRange(drawn, middle - half, middle + half);
}

/**
 * Dragging with the shift key moves along the runs.
 * @param {Drawn} drawn
 * @param {uPlot} chart
 * @param {MouseEvent} event
 */
function startPan(drawn, chart, event) {
  const { min, max } = chart.scales.x,
    from = event.clientX;
  const width = chart.over.clientWidth;
  const move = (/** @type {MouseEvent} */ now) => {
    const by = ((from - now.clientX) / width) * (max - min);
    showRange(drawn, min + by, max + by);
  };
  addEventListener("mousemove", move);
  addEventListener("mouseup", () => removeEventListener("mousemove", move), { once: true });
}

/**
 * The bar below a chart. `redraw` draws the chart again, with a changed view.
 * @param {Drawn} drawn
 * @param {(name: string) => void} redraw
 */
function viewBar(drawn, redraw) {
  const { view } = drawn;
  const bar = make("div", {
    class: "view-bar",
    role: "group",
    "aria-label": "How the chart is seen",
  });
  /**
   * @param {string} text
   * @param {string} label
   * @param {() => void} act
   */
  const button = (text, label, act) => {
    const made = make("button", { type: "button", "aria-label": label, title: label }, text);
    made.addEventListener("click", act);
    return made;
  };
  /**
   * @param {"log" | "percent" | "split"} name
   * @param {string} text
   * @param {boolean} isOn
   */
  const check = (name, text, isOn, isPossible = true) => {
    const box = make("input", {
      type: "checkbox",
      name,
      checked: isOn ? "" : null,
      disabled: isPossible ? null : "",
    });
    box.addEventListener("change", () => {
      view[name] = box.checked;
      redraw(name);
    });
    return make("label", { class: "check" }, box, ` ${text}`);
  };
  const reset = button(
    "Whole range",
    "Show all runs",
    () => showRange(drawn, -0.5, drawn.runs.length - 0.5),
  );
  const place = make("input", {
    type: "range",
    min: 0,
    max: drawn.runs.length - 1,
    value: drawn.read,
    "aria-label": "Run to read",
  });
  place.addEventListener("input", () => readAt(drawn, Number(place.value)));
  drawn.onRange = () => {
    reset.disabled = !view.range;
  };
  drawn.onRead = (at) => {
    place.value = String(at);
    place.setAttribute("aria-valuetext", drawn.readout.textContent);
  };
  drawn.onRange();
  drawn.onRead(drawn.read);
  bar.append(
    make("label", { class: "check" }, "Read ", place),
    button("+", "Zoom in", () => changeRange(drawn, 0.5, 0)),
    button("−", "Zoom out", () => changeRange(drawn, 2, 0)),
    button("◀", "Earlier runs", () => changeRange(drawn, 1, -0.5)),
    button("▶", "Later runs", () => changeRange(drawn, 1, 0.5)),
    reset,
    check("log", "log scale", drawn.log, drawn.canBeLog),
    check("percent", "% of the first", view.percent),
    check("split", "one chart per variant", view.split),
  );
  return bar;
}
