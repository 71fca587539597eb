// One live view: an input of one model, or of two, and everything that is shown of it.

import { clausesPanel } from "./clauses.js";
import { Columns } from "./columns.js";
import { comparePanel } from "./compare.js";
import { h, named, say } from "./dom.js";
import { inputCard, inputParts } from "./input.js";
import { Live } from "./live.js";
import { Pointing } from "./pointing.js";
import { radiusPanel } from "./radius.js";
import { reasonPanel } from "./reason.js";
import { rowPicker } from "./rows.js";
import { post } from "./server.js";
import { State } from "./state.js";
import { decisionPanel } from "./votes.js";
import { number } from "./words.js";

const QUIET = 900; // ms: what is told to screen readers waits until the hand rests
const LARGE = 256; // columns

export async function liveView(about, status) {
  const columns = new Columns(about);
  const state = new State({ bits: about.start.bits, texts: null, base: { bits: about.start.bits, texts: null, row: null } });
  // Of many pixels or words, most are needed everywhere: what is needed near by says more, and sooner.
  if (columns.count > LARGE) state.within = "auto";
  const two = about.models.length > 1;
  const decisions = about.models.map(() => "");
  const needs = about.models.map(() => []);
  const spoken = h("div", { class: "unseen", role: "status", "aria-live": "polite" });
  const news = new Map();
  let speech = null;

  const context = {
    about, columns, state, two, pointing: new Pointing(), editors: [],
    trouble: (error) => status.end("bad", error.message),
    decision: (model) => decisions[model],
    label: () => (state.canReset ? null : (state.base.label ?? null)),
    said,
    need(model, list) {
      needs[model] = list;
      const all = [...new Set(needs.flat())];
      for (const part of parts) part.need?.(all);
    },
    nearest(bits) {
      for (const part of parts) part.change?.(bits);
    },
    apply,
    show,
  };

  // Told once the hand rests, and only the last of each kind.
  function said(name, model, text) {
    news.set(`${name} ${model}`, (two && model !== null ? `${about.models[model].title}: ` : "") + text);
    clearTimeout(speech);
    speech = setTimeout(() => {
      say(spoken, [...news.values()].join(". "));
      news.clear();
    }, QUIET);
  }

  // Makes a change that was found. Texts are rewritten where the change touches them.
  function apply(change) {
    const texts = Object.fromEntries(context.editors.map((editor) => {
      const { part } = editor;
      const touched = columns.own(state.bits, part) !== columns.own(change.bits, part);
      return [part.name, touched ? editor.altered(change.bits) : (state.step.texts?.[part.name] ?? null)];
    }));
    state.edit(change.bits, { texts });
    context.pointing.at([]);
  }

  // A row of the data, or what an answer of a store is about; undo leads back to what was shown before.
  function show(row) {
    const texts = Object.fromEntries(context.editors.map(({ part }) => [part.name, row.cells?.[part.name] ?? row.text ?? null]));
    const base = { bits: row.bits, texts, row: row.index ?? null, label: row.label ?? null, name: row.name ?? null,
      cells: row.cells ?? null, about: row.about ?? null, notes: row.notes ?? [], witness: row.witness ?? null };
    state.show({ bits: row.bits, texts, base });
  }

  const parts = inputParts(context);
  // Heard before all panels, which ask what the decision is.
  const hearer = { name: "look", element: h("div"), begin() {}, on(look) {
    look.models.forEach((each, i) => {
      if (decisions[i] !== each.decision) said("look", i, `Decision ${each.decision}`);
      decisions[i] = each.decision;
    });
    status.summary(look.models.map((each, i) => [i ? " · " : null, h("b", {}, named(each.decision)), ` by ${number(each.margin)}`]));
  } };
  const lanes = about.models.map((_, i) => ({
    decision: decisionPanel(context, i), radius: radiusPanel(context, i), reason: reasonPanel(context, i), clauses: clausesPanel(context, i) }));
  const compare = two ? comparePanel(context) : null;
  const panels = [hearer, ...lanes.flatMap((lane) => Object.values(lane)), ...(compare ? [compare] : [])];
  const live = new Live({ state, panels, status, two });
  context.live = live;
  const rows = about.data ? rowPicker(context) : null;

  state.listen((what) => {
    if (what !== "within") context.nearest(null);
    live.changed(what);
  });

  const stack = (...cards) => h("div", { class: "stack" }, cards.map((card) => card.element));
  const answers = two
    ? [compare.element, ...lanes.map((lane) => stack(lane.decision, lane.radius, lane.reason, lane.clauses))]
    : [stack(lanes[0].decision, lanes[0].reason), stack(lanes[0].radius, lanes[0].clauses)];
  const element = h("div", { class: two ? "studio two" : "studio" },
    h("div", { class: "left" }, inputCard(context, parts, rows), rows?.element), h("div", { class: "right" }, answers), spoken);

  return {
    element, state, live, show,
    // The first input; what is shown then can't be undone.
    async begin() {
      const { row } = about.start;
      if (about.data && row !== null && row !== undefined) show(await post("row", { index: row }));
      else live.changed("input");
      state.forget();
    },
    step: (by) => rows?.step(by),
    applyNearest: () => lanes[0].radius.act(),
  };
}
