// Every table can be taken as CSV or JSON.
"use strict";

/**
 * A cell that a spreadsheet would take for a formula gets an apostrophe; numbers stay numbers.
 * @param {unknown} value
 */
function csvCell(value) {
  const text = String(value ?? "");
  const safe =
    typeof value !== "number" && /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text))
      ? `'${text}`
      : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param {unknown[][]} rows */
function asCsv(rows) {
  return rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

/** @param {any[][]} table */
function asJson([head, ...rows]) {
  return `${
    JSON.stringify(
      rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? null]))),
      null,
      1,
    )
  }\n`;
}

/**
 * The head and the rows of a table that the filter does not hide.
 * @param {HTMLTableElement} table
 */
function rowsOf(table) {
  const text = (/** @type {Element} */ cell) => cell.textContent.replace(/\s+/g, " ").trim();
  const names = [...(table.tHead?.rows[0]?.cells ?? [])].map(text);
  // Each once: JSON has them as keys.
  const head = names.map((name, i) =>
    !name || names.indexOf(name) < i ? `${name} column ${i + 1}`.trim() : name
  );
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.hidden);
  return [head, ...rows.map((row) => [...row.cells].map(text))];
}

/**
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
function save(name, type, text) {
  const link = make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * Gives a table its buttons; `source` has all rows, the names of columns first.
 * @param {HTMLTableElement} table
 * @param {() => unknown[][]} source
 */
function takeable(table, source = () => rowsOf(table)) {
  const name = () =>
    `warpgauge-${table.closest("section[id], dialog")?.id}-${night(runOf(data.runs.length - 1))}`;
  const button = (
    /** @type {string} */ text,
    /** @type {(rows: any[][]) => string} */ write,
    /** @type {string} */ type,
  ) => {
    const made = make(
      "button",
      { type: "button", "aria-label": `Take this table as ${text}` },
      text,
    );
    made.addEventListener(
      "click",
      () => save(`${name()}.${text.toLowerCase()}`, type, write(source())),
    );
    return made;
  };
  table
    .createCaption()
    .append(
      make(
        "span",
        { class: "take" },
        button("CSV", asCsv, "text/csv"),
        " ",
        button("JSON", asJson, "application/json"),
      ),
    );
  return table;
}

/**
 * The words of a caption that has buttons.
 * @param {HTMLTableElement} table
 * @param {string} text
 */
function setCaption(table, text) {
  const caption = table.createCaption();
  caption.replaceChildren(text, ...caption.querySelectorAll(".take"));
}

function startTaking() {
  /** @type {Map<Element | null | undefined, () => unknown[][]>} */
  const sources = new Map([
    [the("#every-table", Element), everyData],
    [compareSection?.querySelector("table"), comparedData],
  ]);
  for (const table of document.querySelectorAll("table")) takeable(table, sources.get(table));
}
