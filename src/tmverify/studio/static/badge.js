// What is claimed of a statement: searching, proved, or unknown. "Proved" is said of finished answers only.

import { h, say } from "./dom.js";

export function badge() {
  const element = h("span", { class: "badge" });
  return {
    element,
    show(kind, text) {
      element.className = `badge ${kind}`;
      say(element, text);
    },
  };
}
