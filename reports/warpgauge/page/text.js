// Numbers and times as text.
"use strict";

/** @type {[limit: number, scale: number, prefix: string][]} */
const PREFIXES = [
  [1e6, 1, ""],
  [1e9, 1e6, " M"],
  [1e12, 1e9, " G"],
  [1e15, 1e12, " T"],
];

/**
 * A number as style.number_text() writes it: at most seven characters.
 * @param {Value | undefined} value
 */
function numberText(value) {
  if (value === null || value === undefined) return "not measured";
  if (typeof value === "string") return value;
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return value.toLocaleString("en");
  if (Math.abs(value) < 1e-3) return value.toExponential(2);
  for (const [limit, scale, prefix] of PREFIXES) {
    if (Math.abs(value) < limit * 0.99995) {
      const scaled = value / scale;
      return (Math.abs(scaled) >= 999.95
        ? Math.round(scaled).toLocaleString("en")
        : scaled.toPrecision(4)) + prefix;
    }
  }
  return value.toExponential(2);
}

/**
 * @param {Value | undefined} value
 * @param {string} unit
 */
function quantity(value, unit) {
  const text = numberText(value);
  if (typeof value !== "number") return text;
  const name = unit === "us" ? "µs" : unit === "1" || unit === "fraction" ? "" : unit;
  return (text + (/[A-Z]$/.test(text) && name.endsWith("/s") ? "" : " ") + name).trim();
}

/** @param {Run} run */
function night(run) {
  return run.time.slice(0, 10);
}

/**
 * To the minute, where a night has several runs.
 * @param {Run} run
 */
function moment(run) {
  return run.time.slice(0, 16).replace("T", " ");
}
