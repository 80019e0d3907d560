// Starts the page.
"use strict";

// Opens folded parts for print, as far as they are marked for it.
function openForPrint() {
  /** @type {HTMLDetailsElement[]} */
  const opened = [];
  addEventListener("beforeprint", () => {
    /** @type {NodeListOf<HTMLDetailsElement>} */
    const folded = document.querySelectorAll("details.printed:not([open])");
    for (const part of folded) {
      part.open = true;
      opened.push(part);
    }
  });
  addEventListener("afterprint", () => {
    for (const part of opened.splice(0)) part.open = false;
  });
}

openForPrint();
startCharts();
startTaking();
startFilter();
startTrends();
startTabs();
startPerElement();
startCompare();
startAddresses();
