// A text to edit. Words that the model knows are underlined; all others it does not see.
//
// The text area lies over a copy of its text that carries the marks. Bits of a text come from the server,
// which reads it as the model does.

import { post } from "./server.js";
import { fill, freshId, h, named, say } from "./dom.js";
import { lock } from "./locks.js";
import { places } from "./words.js";

const CHIPS = 80;

export function textEditor({ part, columns, state, pointing, trouble }) {
  const id = freshId("text");
  const area = h("textarea", { id, spellcheck: "false", autocomplete: "off", dir: "auto", rows: 3, oninput: typed, "aria-describedby": `${id}-hint` });
  const copy = h("div", { class: "copy", "aria-hidden": "true", dir: "auto" });
  const hint = h("p", { class: "hint", id: `${id}-hint` });
  const chips = h("div", { class: "word-chips", role: "group", "aria-label": "Known words of this text" });
  const locks = new Map();

  let text = ""; // what the marks are about
  let spans = []; // [start, end, column] in the text
  let wanted = new Map();
  let needed = new Set();
  let asking = null;

  async function read(content) {
    asking?.abort();
    asking = new AbortController();
    const answer = await post("encode", { text: content, part: part.name }, asking.signal);
    const at = places(content);
    return { bits: answer.bits, spans: answer.known.map(([start, end, column]) => [at(start), at(end), column]) };
  }

  async function typed() {
    const content = area.value;
    try {
      const found = await read(content);
      text = content;
      spans = found.spans;
      state.edit(columns.withPart(state.bits, part, found.bits), {
        texts: { ...state.step.texts, [part.name]: content }, joins: `text ${part.name}` });
      mark();
    } catch (error) {
      if (error.name !== "AbortError") trouble(error);
    }
  }

  // After undo, another row or an applied change: the text of this step, or one made of its words.
  async function show() {
    const own = state.bits.slice(part.bit, part.bit + part.nBits);
    const content = state.step.texts?.[part.name] ?? present().map((column) => columns.name(column)).join(" ");
    if (content === text && content === area.value) return mark();
    area.value = content;
    try {
      const found = await read(content);
      text = content;
      spans = found.spans;
      say(hint, found.bits === own ? "" : "No text says exactly this; the words below are what counts.");
      mark();
    } catch (error) {
      if (error.name !== "AbortError") trouble(error);
    }
  }

  function present() {
    const found = [];
    for (let i = 0; i < part.n; i += 1) if (state.bits[part.bit + i] === "1") found.push(part.start + i);
    return found;
  }

  function mark() {
    const pieces = [];
    let end = 0;
    for (const [from, to, column] of spans) {
      if (from < end) continue;
      pieces.push(text.slice(end, from), h("mark", { class: classes(column) }, text.slice(from, to)));
      end = to;
    }
    fill(copy, pieces, text.slice(end), "\n​");
    const words = present();
    if (!hint.textContent || hint.dataset.counts) {
      hint.dataset.counts = "yes";
      say(hint, words.length ? `${words.length} known ${words.length === 1 ? "word" : "words"}, underlined; the model sees no others.` : "The model knows none of these words.");
    }
    // Words that are kept fixed stay in the list when they are not in the text: absent words can be kept out.
    const kept = [...state.fixed].filter((c) => c >= part.start && c < part.start + part.n && !words.includes(c));
    const shown = [...words.slice(0, CHIPS), ...kept];
    fill(chips, shown.map((column) => chip(column, words.includes(column))),
      words.length > CHIPS ? h("small", {}, `and ${words.length - CHIPS} more`) : null);
  }

  const classes = (column) => ["known", wanted.get(column) === 1 && "pointed-on", wanted.get(column) === 0 && "pointed-off",
    needed.has(column) && "needs", state.fixed.has(column) && "kept"].filter(Boolean).join(" ");

  function chip(column, there) {
    const word = columns.name(column);
    if (!locks.has(column)) locks.set(column, lock(column, `“${word}”`, state));
    return h("span", { class: `word-chip ${there ? "" : "absent"} ${classes(column)}` }, there ? null : "no ", named(word), locks.get(column));
  }

  area.addEventListener("scroll", () => { copy.scrollTop = area.scrollTop; });
  state.listen((what) => (what === "input" ? show() : what === "fixed" && mark()));
  pointing.listen((conditions) => {
    wanted = new Map(conditions);
    mark();
  });
  show();
  return {
    part,
    element: h("div", { class: "text-part" }, h("label", { for: id }, named(part.name)), h("div", { class: "paper-sheet" }, copy, area), hint, chips),
    need(list) {
      needed = new Set(list);
      mark();
    },
    // The text with the changes of a nearest change made in it: removed words cut out, new ones at its end.
    altered(after) {
      const gone = spans.filter(([, , column]) => state.bits[columns.bit(column)] === "1" && after[columns.bit(column)] !== "1");
      const added = [];
      for (let i = 0; i < part.n; i += 1) {
        if (state.bits[part.bit + i] !== "1" && after[part.bit + i] === "1") added.push(columns.name(part.start + i));
      }
      let content = text;
      for (const [from, to] of gone.toReversed()) content = content.slice(0, from) + content.slice(to);
      return [content.replace(/[^\S\n]{2,}/g, " ").trim(), ...added].filter(Boolean).join(" ");
    },
    spans: () => ({ text, spans }),
  };
}
