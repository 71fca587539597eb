// Plain bits: a switch for each feature, found by name where there are many.

import { button, fill, h, say } from "./dom.js";
import { lock } from "./locks.js";
import { withBit } from "./columns.js";

const SHOWN = 240;

export function bitsEditor({ part, columns, state, pointing }) {
  const grid = h("div", { class: "switches", role: "group", "aria-label": "Features" });
  const search = h("input", { type: "search", placeholder: "find a feature", "aria-label": "Find a feature", oninput: build });
  const rest = h("p", { class: "hint" });
  const all = Array.from({ length: part.n }, (_, i) => i);
  const made = new Map();
  let shown = new Map();

  function build() {
    const wanted = search.value.trim().toLowerCase();
    const found = all.filter((i) => columns.name(i).toLowerCase().includes(wanted));
    shown = new Map(found.slice(0, SHOWN).map((i) => [i, made.get(i) ?? one(i)]));
    fill(grid, [...shown.values()].map((each) => each.element));
    say(rest, found.length > SHOWN ? `and ${found.length - SHOWN} more; find them by name` : found.length ? "" : "no feature is called so");
    show();
  }

  function one(i) {
    const name = columns.name(i);
    const flip = button(name, () => state.edit(withBit(state.bits, part.bit + i, state.bits[part.bit + i] !== "1")), {
      class: "bit", role: "switch" });
    const element = h("span", { class: "bit-with-lock" }, flip, lock(part.start + i, name, state));
    made.set(i, { flip, element });
    return { flip, element };
  }

  function show() {
    for (const [i, { flip, element }] of shown) {
      flip.setAttribute("aria-checked", String(state.bits[part.bit + i] === "1"));
      element.classList.toggle("kept", state.fixed.has(part.start + i));
    }
  }

  state.listen(show);
  pointing.listen((conditions) => {
    const wants = new Map(conditions);
    for (const [i, { element }] of shown) {
      element.classList.toggle("pointed-on", wants.get(part.start + i) === 1);
      element.classList.toggle("pointed-off", wants.get(part.start + i) === 0);
    }
  });
  build();
  return {
    element: h("div", { class: "bits-part" }, part.n > 24 ? search : null, grid, rest),
    need(list) {
      const needed = new Set(list);
      for (const [i, { element }] of shown) element.classList.toggle("needs", needed.has(part.start + i));
    },
  };
}
