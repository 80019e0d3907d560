// Starts the page, and follows links: "#fact-12", "#fact-12-3", "#trend-12", "#cases/registers/sm_90".
"use strict";

// The list of cases stays open below a fact, which closes onto it.
function follow() {
  const found = /^#(fact|trend)-(\d{1,9})(?:-(\d{1,9}))?$/.exec(location.hash);
  const known = found && Number(found[2]) < data.series.length;
  if (known && found[1] === "fact") {
    showFact(Number(found[2]), found[3] === undefined ? null : Number(found[3]));
    return;
  }
  if (factDialog.open) factDialog.close();
  const list = /^#cases\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(location.hash);
  if (list && showCases(...list.slice(1).map(nameFrom))) return;
  if (casesDialog.open) casesDialog.close();
  if (known) {
    showTrend(Number(found[2]));
    document.getElementById("trends").scrollIntoView();
    document.querySelector("#trend-choice select").focus({ preventScroll: true });
  }
}

function nameFrom(part) {
  try {
    return part === undefined ? null : decodeURIComponent(part);
  } catch {
    return part;
  }
}

// Closing a dialog removes the hash that opened it.
function forget(start) {
  return () => {
    if (location.hash.startsWith(start)) history.replaceState(null, "", location.pathname + location.search);
  };
}

// Opens folded parts for print, as far as they are marked for it.
function openForPrint() {
  const opened = [];
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details.printed:not([open])")) {
      part.open = true;
      opened.push(part);
    }
  });
  addEventListener("afterprint", () => { for (const part of opened.splice(0)) part.open = false; });
}

openForPrint();
startCharts();
startFilter();
startTrends();
startPerElement();
addEventListener("hashchange", follow);
for (const [dialog, start] of [[factDialog, "#fact-"], [casesDialog, "#cases/"]]) {
  dialog.addEventListener("close", forget(start));
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}
follow();
