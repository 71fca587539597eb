// The card of the input: the editors of its parts, its history, and what is kept fixed.

import { bitsEditor } from "./bits.js";
import { button, fill, h, named, say } from "./dom.js";
import { form } from "./form.js";
import { pictureEditor } from "./picture.js";
import { textEditor } from "./text.js";
import { count } from "./words.js";

// One editor for each picture and text, and one form for all other columns.
export function inputParts(context) {
  const { columns } = context;
  const made = [];
  for (const part of columns.of("image")) made.push({ element: pictureEditor({ ...context, part }) });
  const single = columns.parts.filter((part) => part.values);
  if (single.length) made.push(form({ ...context, parts: single }));
  for (const part of columns.of("text")) {
    const editor = textEditor({ ...context, part });
    context.editors.push(editor);
    made.push(editor);
  }
  for (const part of columns.of("bits")) made.push(bitsEditor({ ...context, part }));
  return made;
}

export function inputCard(context, parts, rows) {
  const { state, columns } = context;
  const undo = button("↶", () => state.undo(), { "aria-label": "Undo", title: "Undo (U or Ctrl-Z)" });
  const redo = button("↷", () => state.redo(), { "aria-label": "Redo", title: "Redo (Shift-U or Ctrl-Y)" });
  const reset = button("Reset", () => state.reset(), { title: "Back to the row (R)" });
  const about = h("p", { class: "hint about-input" });
  const notes = h("div", { class: "notes" });
  const kept = h("p", { class: "hint kept-note", hidden: true });
  const free = button("Free all", () => state.keep([...state.fixed], false), { class: "small" });
  const keptText = h("span");
  fill(kept, keptText, " ", free);

  function show() {
    undo.disabled = !state.canUndo;
    redo.disabled = !state.canRedo;
    reset.disabled = !state.canReset;
    const { row, name, label, about: said } = state.base;
    const what = said ? [said] : row === null || row === undefined ? ["an input of its own"] : [named(name ?? `Row ${row}`), label === null || label === undefined ? "" : [", labelled ", h("b", {}, named(label))]];
    const differ = columns.parts.reduce((n, part) => n + (part.values ? Number(columns.differs(state.bits, state.base.bits, part.start)) : different(part, state.bits, state.base.bits)), 0);
    fill(about, what, differ ? `, ${count(differ, columns.unit)} changed` : "");
    fill(notes, (state.base.notes ?? []).map((note) => h("p", { class: "hint" }, note)),
      state.base.witness && state.base.witness !== state.bits ? button("Show the change of this answer", () => state.edit(state.base.witness), { class: "small" }) : null);
    kept.hidden = state.fixed.size === 0;
    say(keptText, `${count(state.fixed.size, columns.unit)} kept fixed. All answers are about inputs that have ${state.fixed.size === 1 ? "its value" : "their values"}.`);
  }

  state.listen(show);
  show();
  return h("section", { class: "card input", id: "input", tabindex: -1, "aria-label": "Input" },
    h("header", {}, h("h2", {}, "Input"), rows?.stepper),
    parts.map((part) => part.element),
    h("div", { class: "input-foot" }, about, h("div", { class: "history", role: "toolbar", "aria-label": "History" }, undo, redo, reset)), notes, kept);
}

function different(part, a, b) {
  let n = 0;
  for (let i = part.bit; i < part.bit + part.nBits; i += 1) if (a[i] !== b[i]) n += 1;
  return n;
}
