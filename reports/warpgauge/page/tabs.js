// Shows one part of the page at a time below its first screen. Without this script, and on paper,
// all of them are there.
"use strict";

/** @param {Element} part */
function showTab(part) {
  for (const other of document.querySelectorAll(".tab")) {
    other.classList.toggle("away", other !== part);
  }
  for (const link of navigation()) {
    if (link.hash === `#${part.id}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  if (part.id === "trends") drawTrend(); // as wide as it is now
}

/**
 * Shows what is in a part that is away or folded.
 * @param {Element} element
 */
function reveal(element) {
  const part = element.closest(".tab");
  if (part) showTab(part);
  const folded = element.closest("details");
  if (folded) folded.open = true;
  element.scrollIntoView();
}

// What a link leads to is not to lie below the bar with the search.
function leaveRoom() {
  const isSticky = getComputedStyle(filterForm).position === "sticky";
  document.documentElement.style.scrollPaddingTop = `${
    (isSticky ? filterForm.offsetHeight : 0) + 16
  }px`;
}

function startTabs() {
  showTab(the("#changes", HTMLElement));
  leaveRoom();
  addEventListener("resize", leaveRoom);
}
