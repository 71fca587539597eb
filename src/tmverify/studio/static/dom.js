// Elements in one line: h("p", {class: "hint"}, "text", child) for HTML, s("svg", …) for drawings.

const SVG = "http://www.w3.org/2000/svg";

export const h = (tag, attributes, ...children) =>
  filled(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  put(element, ...children);
  return element;
}

// Adds children: nodes, texts, lists of them; null and false are left out.
function put(element, ...children) {
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

export function fill(element, ...children) {
  element.replaceChildren();
  put(element, ...children);
  return element;
}

// Names from data: isolated, so that a name written from right to left does not turn its sentence round.
export const named = (text) => h("bdi", {}, String(text));

export const button = (label, act, attributes = {}) =>
  h("button", { type: "button", onclick: act, ...attributes }, label);

// Text or attribute is touched only if it differs: screen readers and transitions stay quiet.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

let made = 0;
export const freshId = (word) => `${word}-${(made += 1)}`;
