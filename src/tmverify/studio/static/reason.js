// Why: the columns that suffice for the decision, within a distance or whatever else changes.

import { badge } from "./badge.js";
import { certificateButton } from "./certificate.js";
import { chips, passage } from "./changes.js";
import { needed } from "./drawing.js";
import { button, fill, freshId, h, named, say } from "./dom.js";
import { legend } from "./picture.js";
import { count, number } from "./words.js";

const MOST_KEPT = 8; // columns that are kept fixed, said one by one
const STOPS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 30, 40, 50];

export function reasonPanel(context, model) {
  const { state, columns, about } = context;
  const { title } = about.models[model];
  const mark = badge();
  const big = h("output", { class: "bounds" });
  const means = h("p", { class: "means" });
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Columns decided" });
  const drawn = h("div", { class: "change" });
  const rule = h("div", { class: "rule" });
  const why = h("p", { class: "why" });
  const proof = certificateButton(() => ({ bits: asked.bits, fixed: asked.fixed, within: result ? result.within : asked.within, what: "reason", model }));
  const slider = withinSlider(state, columns);
  let asked = null;
  let result = null;

  function show(event) {
    bar.hidden = event.done;
    if (!event.done) {
      mark.show("live", "searching");
      bar.value = event.of ? event.decided / event.of : 0;
      // A reason of the previous input stays, greyed, until the new one is there.
      if (!big.childElementCount) fill(big, h("small", {}, "Looking"));
      return;
    }
    result = event;
    const holds = event.status === "holds";
    const minimal = holds && event.minimal !== "open";
    mark.show(minimal ? "good" : "open", minimal ? "proved" : holds ? "proved, not minimal" : "unknown");
    proof.press.hidden = !holds;
    say(why, holds ? "" : `Not settled: ${event.why || "the search stopped"}.`);
    if (!holds) {
      nothingKnown();
      return context.said("reason", model, "Reason: unknown");
    }
    showReason(event);
  }

  function nothingKnown() {
    fill(big, h("b", {}, "unknown"));
    say(means, "");
    fill(drawn);
    fill(rule);
  }

  function showReason(event) {
    const n = event.columns.length;
    const unit = columns.unit;
    const decision = context.decision(model);
    const kept = keptBeside(event);
    const upTo = event.within === null || event.within === undefined ? "" : `, up to ${count(event.within, unit)}`;
    const others = ["whatever else changes", upTo, kept.length ? [", with ", keptWords(kept), " as here"] : null];
    if (n) fill(big, h("b", {}, number(n)), ` of ${count(columns.count, unit)}`);
    else fill(big, h("b", {}, "none"), " is needed");
    const open = event.undecided ?? [];
    const size = { smallest: ". No smaller set does.", subset: n > 1 ? ". None of them can be left out. There may be other reasons." : ". There may be other reasons.", open: `. ${count(open.length, unit)} might still be left out.` };
    fill(means, n ? `${n === 1 ? "suffices" : "suffice"} for ` : "It stays ", h("b", {}, named(decision)), ", ", others, size[event.minimal] ?? ".");
    fill(drawn, shaded(event, open));
    fill(rule, event.rule && n ? sentence(event.rule) : null);
    context.need(model, event.columns);
    context.said("reason", model, `Reason: ${n} of ${columns.count} suffice${kept.length ? `, with ${number(kept.length)} kept fixed` : ""}`);
  }

  // What the reason rests on besides its own columns: those that were kept fixed while it was sought.
  function keptBeside(event) {
    const own = new Set(event.columns);
    return asked.fixed.filter((column) => !own.has(column));
  }

  const keptWords = (kept) => (kept.length === 1 ? named(columns.name(kept[0])) : count(kept.length, columns.unit));

  function keptFact(column) {
    const part = columns.part(column);
    const value = part.values ? (part.values[columns.value(asked.bits, part)] ?? "no value") : columns.isOn(asked.bits, column) ? "1" : "0";
    return h("dd", { class: "kept" }, named(`${columns.name(column)} is ${value}`), " (kept fixed)");
  }

  function shaded(event, open) {
    const shown = [];
    for (const part of columns.of("image")) {
      shown.push(h("figure", { class: "sketch" }, needed(part, asked.bits, event.columns, open, `The reason: ${event.columns.length} pixels that must stay`),
        legend("need-on", "need-off", open.length ? "unsure" : null)));
    }
    const own = new Set(event.columns);
    for (const part of columns.of("text")) {
      const mine = event.columns.filter((c) => c >= part.start && c < part.start + part.n);
      const editor = context.editors.find((one) => one.part === part);
      const marked = editor ? passage(editor.spans(), (c) => own.has(c), "mark") : null;
      shown.push(marked ?? chips("there", mine.filter((c) => columns.isOn(asked.bits, c)).map((c) => columns.name(c)), "added"));
      shown.push(chips("not there", mine.filter((c) => !columns.isOn(asked.bits, c)).map((c) => columns.name(c)), "absent"));
    }
    const facts = (event.facts ?? []).filter((fact) => columns.part(fact.column)?.values || columns.part(fact.column)?.kind === "bits");
    const kept = keptBeside(event);
    const listable = kept.filter((column) => columns.part(column).values || columns.part(column).kind === "bits");
    const listed = listable.length <= MOST_KEPT ? listable : [];
    const items = [...facts.map(factItem), ...listed.map(keptFact)];
    if (listed.length < kept.length) items.push(h("dd", { class: "kept" }, `${count(kept.length - listed.length, columns.unit)} kept as here`));
    if (facts.length || listable.length) shown.push(h("dl", { class: "facts" }, items.flatMap((item, i) => [h("dt", {}, i ? "AND" : "IF"), item]),
      h("dt", {}, "THEN"), h("dd", { class: "then" }, about.target ? [named(about.target), " "] : null, named(context.decision(model)))));
    else if (kept.length) shown.push(h("p", { class: "hint" }, `With ${count(kept.length, columns.unit)} kept as here.`));
    return shown;
  }

  function factItem(fact) {
    const item = h("dd", { class: "fact", tabindex: 0 }, named(fact.text));
    context.pointing.bind(item, () => [[fact.column, columns.isOn(asked.bits, fact.column) ? 1 : 0]]);
    return item;
  }

  const element = h("section", { class: "card reason", "aria-label": context.two ? `Why, ${title}` : "Why" },
    h("header", {}, h("h2", {}, "Why"), context.two ? h("span", { class: "whose" }, named(title)) : null, mark.element),
    slider.element, h("div", { class: "stand" }, big, means), bar, why, drawn, rule, h("div", { class: "actions" }, proof.press), proof.said);
  mark.show("waiting", "waiting");
  bar.hidden = proof.press.hidden = true;
  return {
    element,
    name: "reason",
    model,
    atTheEnd: true, // what is shown is of the older question until the last event
    begin(question) {
      asked = question;
      result = null;
      mark.show("live waiting", "searching");
      proof.press.hidden = true;
      proof.clear();
      bar.hidden = true;
      context.need(model, []);
    },
    on(event) {
      if (event.model !== model) return;
      if (event.done) slider.resolved(event.within ?? null);
      show(event);
    },
    stop(reason) {
      bar.hidden = true;
      nothingKnown();
      mark.show("open", "unknown");
      say(why, `Not settled: ${reason}.`);
    },
  };
}

// The whole rule, with all that it is conditional on; IF and THEN stand out.
function sentence(text) {
  const pieces = text.split(/\b(IF|THEN|AND|OR)\b/).map((piece) => (/^(IF|THEN|AND|OR)$/.test(piece) ? h("b", {}, piece) : piece));
  return h("details", {}, h("summary", {}, "The rule in one sentence"), h("p", {}, pieces));
}

// The distance: 1, 2, 3, … and, at the end, everywhere. "Radius + 1" is the first at which anything is needed.
function withinSlider(state, columns) {
  const id = freshId("within");
  const stops = [...STOPS.filter((n) => n < columns.count), null];
  const said = h("output", { for: id });
  const input = h("input", { type: "range", id, min: 0, max: stops.length - 1, step: 1, oninput: () => state.setWithin(stops[Number(input.value)]) });
  const auto = button("radius + 1", () => state.setWithin("auto"), { class: "small", title: "Just beyond the radius: the first distance at which anything is needed" });
  let meant = null; // what "radius + 1" came to

  function show() {
    const chosen = state.within === "auto" ? meant : state.within;
    const place = chosen === null ? stops.length - 1 : stops.findLastIndex((stop) => stop !== null && stop <= chosen);
    input.value = String(Math.max(0, place));
    input.style.setProperty("--share", String(Number(input.value) / Math.max(1, stops.length - 1)));
    const reach = state.within === "auto" && meant === null ? "radius + 1" : chosen === null ? "everywhere" : `within ${count(chosen, columns.unit)}`;
    const text = reach + (state.fixed.size ? `, with ${number(state.fixed.size)} kept fixed` : "");
    input.setAttribute("aria-valuetext", text);
    auto.setAttribute("aria-pressed", String(state.within === "auto"));
    say(said, text);
  }

  state.listen((what) => ["within", "fixed"].includes(what) && show());
  show();
  return {
    element: h("div", { class: "within" }, h("label", { for: id }, "Holds"), h("span", { class: "rail" }, input), said, auto),
    resolved(within) {
      meant = within;
      show();
    },
  };
}
