// The page: one input, and everything that is shown of it.

import { bitsEditor } from "./bits.js";
import { clausesPanel } from "./clauses.js";
import { Columns } from "./columns.js";
import { comparePanel } from "./compare.js";
import { button, fill, h, named, s, say } from "./dom.js";
import { exportView } from "./exporting.js";
import { form } from "./form.js";
import { keyboard } from "./keys.js";
import { Live } from "./live.js";
import { pictureEditor } from "./picture.js";
import { Pointing } from "./pointing.js";
import { radiusPanel } from "./radius.js";
import { reasonPanel } from "./reason.js";
import { rowPicker } from "./rows.js";
import { get, post } from "./server.js";
import { State } from "./state.js";
import { statusLine } from "./status.js";
import { answersView } from "./store.js";
import { textEditor } from "./text.js";
import { decisionPanel } from "./votes.js";
import { count, listed, number } from "./words.js";

const QUIET = 900; // ms: what is told to screen readers waits until the hand rests

async function start() {
  const about = await get("about");
  const place = document.getElementById("studio");
  if (!about.models.length) {
    const view = answersView(about, null);
    return fill(place, view.element);
  }
  const columns = new Columns(about);
  const state = new State({ bits: about.start.bits, texts: null, base: { bits: about.start.bits, texts: null, row: null } });
  // In a large picture, nearly all pixels are needed everywhere: what is needed near by says more, and sooner.
  if (columns.of("image").some((part) => part.n > 256)) state.within = "auto";
  const pointing = new Pointing();
  const context = { about, columns, state, pointing, two: about.models.length > 1, editors: [], trouble };
  const parts = inputParts(context);
  const decisions = about.models.map(() => "");
  const needs = about.models.map(() => []);

  const spoken = h("div", { class: "unseen", role: "status", "aria-live": "polite" });
  let speech = null;
  const news = new Map();

  function trouble(error) {
    status.end("bad", error.message);
  }

  Object.assign(context, {
    decision: (model) => decisions[model],
    label: () => (state.canReset ? null : (state.base.label ?? null)),
    // Told once the hand rests, and only the last of each kind.
    said(name, model, text) {
      const whose = context.two && model !== null ? `${about.models[model].title}: ` : "";
      news.set(`${name} ${model}`, whose + text);
      clearTimeout(speech);
      speech = setTimeout(() => {
        say(spoken, [...news.values()].join(". "));
        news.clear();
      }, QUIET);
    },
    need(model, list) {
      needs[model] = list;
      const all = [...new Set(needs.flat())];
      for (const part of parts) part.need?.(all);
    },
    nearest(bits) {
      for (const part of parts) part.change?.(bits);
    },
    apply(change) {
      const texts = Object.fromEntries(context.editors.map((editor) => [editor.part.name,
        touches(editor.part, state.bits, change.bits) ? editor.altered(change.bits) : (state.step.texts?.[editor.part.name] ?? null)]));
      state.edit(change.bits, { texts });
      context.said("applied", null, "Applied");
    },
    show(row) {
      const texts = Object.fromEntries(context.editors.map(({ part }) => [part.name, row.cells?.[part.name] ?? row.text ?? null]));
      state.show({ bits: row.bits, texts, base: { bits: row.bits, texts, row: row.index ?? null, label: row.label ?? null, name: row.name ?? null, cells: row.cells ?? null, about: row.about ?? null } });
    },
  });

  const looks = { name: "look", element: h("div"), begin() {}, on(look) {
    look.models.forEach((each, i) => {
      if (decisions[i] !== each.decision) context.said("look", i, `Decision ${each.decision}`);
      decisions[i] = each.decision;
    });
  } };
  const lanes = about.models.map((_, i) => ({
    decision: decisionPanel(context, i), radius: radiusPanel(context, i), reason: reasonPanel(context, i), clauses: clausesPanel(context, i) }));
  const compare = context.two ? comparePanel(context) : null;
  const panels = [looks, ...lanes.flatMap((lane) => Object.values(lane)), ...(compare ? [compare] : [])];
  const status = statusLine(() => live.stop());
  const live = new Live({ state, panels, status, two: context.two });
  context.live = live;
  const rows = about.data ? rowPicker(context) : null;

  state.listen((what) => {
    if (what !== "within") context.nearest(null);
    live.changed(what);
  });

  const answers = about.store ? answersView(about, (row) => { context.show(row); views.live(); }) : null;
  const inputCard = input(context, parts, rows);
  const stack = (...cards) => h("div", { class: "stack" }, cards.map((card) => card.element));
  const answerCards = context.two
    ? [compare.element, ...lanes.map((lane) => stack(lane.decision, lane.radius, lane.reason, lane.clauses))]
    : [stack(lanes[0].decision, lanes[0].reason), stack(lanes[0].radius, lanes[0].clauses)];
  const studio = h("div", { class: context.two ? "studio two" : "studio" },
    h("div", { class: "left" }, inputCard, rows?.element), h("div", { class: "right" }, answerCards));
  const views = switcher(studio, answers);
  const keys = keyboard(actions(context, lanes, rows, live, () => keys.open()));
  fill(document.getElementById("top"), top(about, views.element, keys));
  fill(place, studio, answers?.element, spoken, keys.dialog);
  document.getElementById("foot").replaceChildren(status.element);
  document.title = `${about.models.map((each) => each.title).join(" and ")} · tmverify studio`;

  if (answers && about.start.row === undefined) views.answers();
  if (about.data && about.start.row !== undefined && about.start.row !== null) {
    const row = await post("row", { index: about.start.row });
    context.show(row);
    state.forget();
  } else live.changed("input");
  return undefined;
}

const touches = (part, a, b) => a.slice(part.bit, part.bit + part.nBits) !== b.slice(part.bit, part.bit + part.nBits);

function inputParts(context) {
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

function input(context, parts, rows) {
  const { state, columns } = context;
  const undo = button("↶", () => state.undo(), { "aria-label": "Undo", title: "Undo (U or Ctrl-Z)" });
  const redo = button("↷", () => state.redo(), { "aria-label": "Redo", title: "Redo (Shift-U or Ctrl-Y)" });
  const reset = button("Reset", () => state.reset(), { title: "Back to the row (R)" });
  const about = h("p", { class: "hint about-input" });
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
    kept.hidden = state.fixed.size === 0;
    say(keptText, `${count(state.fixed.size, columns.unit)} kept fixed: no change and no reason is about other values of ${state.fixed.size === 1 ? "it" : "them"}.`);
  }

  state.listen(show);
  show();
  return h("section", { class: "card input", id: "input", tabindex: -1, "aria-label": "Input" },
    h("header", {}, h("h2", {}, "Input"), rows?.stepper),
    parts.map((part) => part.element),
    h("div", { class: "input-foot" }, about, h("div", { class: "history", role: "toolbar", "aria-label": "History" }, undo, redo, reset)), kept);
}

function different(part, a, b) {
  let n = 0;
  for (let i = part.bit; i < part.bit + part.nBits; i += 1) if (a[i] !== b[i]) n += 1;
  return n;
}

function switcher(studio, answers) {
  if (!answers) return { element: null, live() {}, answers() {} };
  const show = (live) => {
    studio.hidden = !live;
    answers.element.hidden = live;
    tabs[0].setAttribute("aria-current", String(!live));
    tabs[1].setAttribute("aria-current", String(live));
    scrollTo(0, 0);
  };
  const tabs = [button("Answers", () => show(false)), button("Live view", () => show(true))];
  show(true);
  return { element: h("nav", { class: "views", "aria-label": "Views" }, tabs), live: () => show(true), answers: () => show(false) };
}

function top(about, views, keys) {
  const facts = about.models.map((each) => `${count(each.classes.length, "class")}, ${number(each.n_clauses)} clauses, ${number(each.n_features)} bits`);
  return [
    h("div", { class: "brand" }, h("p", { class: "kicker" }, logo(), "tmverify studio"),
      h("h1", {}, about.models.flatMap((each, i) => [i ? h("span", { class: "beside" }, " beside ") : null, named(each.title)])),
      h("p", { class: "made" }, [...new Set(facts)].join(" · "),
        about.data ? [" · ", named(about.data.name), `, ${count(about.data.rows, "row")}`, about.data.accuracy === null || about.data.accuracy === undefined ? "" : `, ${(about.data.accuracy * 100).toFixed(1)} % right`] : "")),
    views,
    h("div", { class: "top-actions" }, button("Export", () => exportView(listed(about.models.map((each) => each.title))), { title: "Save this view as one HTML file (X)" }),
      button("?", keys.open, { "aria-label": "Keys", title: "Keys (?)", class: "round" })),
  ];
}

// A picture of nine pixels, in which a tick is drawn.
function logo() {
  const pixels = [[2, 0], [0, 1], [1, 2]].map(([x, y]) => s("rect", { x: x + 0.08, y: y + 0.08, width: 0.84, height: 0.84, rx: 0.16 }));
  const others = [[0, 0], [1, 0], [1, 1], [2, 1], [0, 2], [2, 2]].map(([x, y]) => s("rect", { class: "off", x: x + 0.08, y: y + 0.08, width: 0.84, height: 0.84, rx: 0.16 }));
  return s("svg", { class: "logo", viewBox: "0 0 3 3", "aria-hidden": "true" }, others, pixels);
}

function actions({ state, about }, lanes, rows, live, help) {
  return [
    { key: "u", shift: false, act: () => state.undo(), text: "undo (also Ctrl-Z)" },
    { key: "u", shift: true, act: () => state.redo(), text: "redo (also Ctrl-Y)", shown: "Shift-U" },
    { key: "z", command: true, shift: false, act: () => state.undo() },
    { key: "z", command: true, shift: true, act: () => state.redo() },
    { key: "y", command: true, act: () => state.redo() },
    { key: "r", act: () => state.reset(), text: "reset to the row" },
    { key: "a", act: () => lanes[0].radius.act(), text: "apply the nearest change" },
    { key: "n", act: () => rows?.step(1), text: "next row" },
    { key: "p", act: () => rows?.step(-1), text: "previous row" },
    { key: "i", act: () => document.querySelector("#input :is(.board, input, select, textarea, button.bit)")?.focus(), text: "to the input" },
    { key: "x", act: () => exportView(listed(about.models.map((each) => each.title))), text: "export this view" },
    { key: "Escape", act: () => live.stop(), text: "stop what is running", shown: "Escape" },
    { key: "?", act: help, text: "this help", shown: "?" },
  ];
}

start().catch((error) => {
  fill(document.getElementById("studio"), h("p", { class: "notice bad", role: "alert" }, error.message));
});
