// An interval that closes: green where nothing is altered, striped where it is not known yet, red beyond.

import { h, say } from "./dom.js";

export function gauge(unit) {
  const parts = Object.fromEntries(["safe", "open", "beyond", "pin"].map((name) => [name, h("i", { class: name })]));
  const from = h("span", { class: "mark lowest" });
  const to = h("span", { class: "mark highest" });
  const element = h("div", { class: "gauge", role: "img" }, h("div", { class: "lane" }, Object.values(parts)), h("div", { class: "marks" }, h("span", { class: "mark origin" }, "0"), from, to));
  let scale = null;

  return {
    element,
    begin() {
      scale = null;
    },
    show({ lower, upper, exact, never }) {
      const known = upper !== null && upper !== undefined;
      const wanted = known ? Math.max(6, Math.ceil(upper * 1.35)) : Math.max(6, lower * 2);
      // The scale stays while the interval closes, so that what moves is the interval.
      if (scale === null || wanted > scale.size || (known && !scale.known) || wanted * 4 < scale.size) scale = { size: wanted, known };
      const share = (n) => String(Math.min(1, n / scale.size));
      element.style.setProperty("--lower", never ? "1" : share(lower));
      element.style.setProperty("--upper", never ? "1" : known ? share(upper) : "1");
      element.classList.toggle("exact", exact);
      element.classList.toggle("endless", !known);
      say(from, never ? "" : String(lower));
      say(to, never ? "∞" : exact || !known ? "" : String(upper));
      element.setAttribute("aria-label", never ? "Never" : exact ? `Exactly ${lower} ${unit}s` : known ? `Between ${lower} and ${upper}` : `At least ${lower}`);
    },
  };
}
