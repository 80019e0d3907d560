// Finds and makes elements of the page.
"use strict";

/**
 * What a selector names below a place: the page has it.
 * @template {Element} T
 * @param {string} selector
 * @param {{new (): T}} kind
 * @param {ParentNode} place
 * @returns {T}
 */
function the(selector, kind, place = document) {
  const found = place.querySelector(selector);
  if (found instanceof kind) return found;
  throw new TypeError(`the page has no ${selector} that is an ${kind.name}`);
}

/**
 * An element with attributes and children; text is never parsed as HTML.
 * @template {string} Name
 * @param {Name} name
 * @param {Record<string, string | number | boolean | null | undefined>} attributes
 * @param {(Node | string | null | undefined)[]} children
 * @returns {Name extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Name] : Element}
 */
function make(name, attributes, ...children) {
  const svg = ["svg", "g", "path", "line", "circle", "text", "title", "polyline"].includes(name);
  const element = svg
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(key, String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return /** @type {any} */ (element);
}

/**
 * A long name as parts between which a line may break: after dots, slashes and at signs.
 * @param {string} text
 */
function breakable(text) {
  return text.split(/(?<=[./@])/).flatMap((part, i) => (i ? [make("wbr", {}), part] : [part]));
}
