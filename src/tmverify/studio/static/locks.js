// "Keep fixed": a mark on a column, which no change and no reason may then touch.

import { h, s } from "./dom.js";

const open = "M5 7V5a3 3 0 0 1 5.6-1.5M4 7h8v6H4z";
const shut = "M5 7V5a3 3 0 0 1 6 0v2M4 7h8v6H4z";

export function lock(column, name, state) {
  const drawn = s("path", { d: open });
  const mark = h("button", {
    type: "button", class: "lock", "aria-label": `Keep ${name} fixed`, title: `Keep ${name} fixed: no change may touch it`,
    onclick: () => state.keep([column], !state.fixed.has(column)),
  }, s("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, drawn));
  const show = () => {
    const fixed = state.fixed.has(column);
    mark.setAttribute("aria-pressed", String(fixed));
    drawn.setAttribute("d", fixed ? shut : open);
  };
  state.listen((what) => what === "fixed" && show());
  show();
  return mark;
}
