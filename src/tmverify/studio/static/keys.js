// Single keys for what is done often. They are silent while something is typed, and can be turned off.

import { button, h } from "./dom.js";

export function keyboard(actions) {
  const on = h("input", { type: "checkbox", checked: true });
  const table = h("dl", { class: "keys" }, [
    ["Arrow keys, Space", "on a picture: move, draw or erase; with Shift, draw while moving"],
    ["F", "on a picture: keep the pixel fixed, or free it"],
    ...actions.filter((each) => each.text).map((each) => [each.shown ?? each.key.toUpperCase(), each.text]),
    ["Tab", "to the next control; clauses light up on the input when they are reached"],
  ].map(([key, text]) => h("div", {}, h("dt", {}, key.split(/(, )/).map((piece) => (piece === ", " ? " " : h("kbd", {}, piece)))), h("dd", {}, text))));
  const dialog = h("dialog", { class: "help", "aria-label": "Keys" },
    h("header", {}, h("h2", {}, "Keys"), button("Close", () => dialog.close())), table,
    h("label", { class: "check" }, on, "single keys are on"));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

  document.addEventListener("keydown", (event) => {
    const writes = event.target.closest?.("input:not([type=range]):not([type=radio]):not([type=checkbox]), textarea, select");
    const command = event.ctrlKey || event.metaKey;
    if (event.altKey || dialog.open) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = actions.find((each) => each.key === key && Boolean(each.command) === command && (each.shift === undefined || each.shift === event.shiftKey));
    if (!action || (writes && !(action.key === "Escape"))) return;
    if (!command && key.length === 1 && !on.checked && key !== "?") return;
    event.preventDefault();
    action.act();
  });
  return { dialog, open: () => dialog.showModal() };
}
