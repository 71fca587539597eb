// Changes and reasons as the report draws them, each a way into the live view.

import { button, fill, h, named, say } from "./dom.js";
import { chips } from "./changes.js";
import { post } from "./server.js";
import { number } from "./words.js";

const AT_ONCE = 12;

export function gallery(what, heading, open, trouble) {
  const list = h("div", { class: "gallery" });
  const more = button("More", () => load(), { class: "more" });
  const of = h("span", { class: "whose" });
  const element = h("section", { class: "gallery-part", "aria-label": heading, hidden: true }, h("header", {}, h("h2", {}, heading), of), list, more);
  let shown = 0;
  let total = 0;

  async function load() {
    try {
      const page = await post("gallery", { what, offset: shown, limit: AT_ONCE });
      list.append(...page.entries.map((entry) => entryCard(entry, open)));
      shown += page.entries.length;
      say(of, `${number(shown)} of ${number(total)}`);
      more.hidden = shown >= total || !page.entries.length;
    } catch (error) {
      trouble(error);
    }
  }

  return {
    element,
    total(n) {
      if (total || !n) return;
      total = n;
      element.hidden = false;
      fill(list);
      load();
    },
  };
}

// `open` is called with the task; null for a card that is no way to anywhere.
export function entryCard(entry, open) {
  const { shown } = entry;
  const [before, after] = entry.decisions ?? [];
  const turn = after === undefined ? h("b", {}, named(before ?? "")) : [h("b", { class: "before" }, named(before)), ` ${entry.sign} `, h("b", { class: "after" }, named(after))];
  const head = h("div", { class: "entry-head" }, h("span", {}, named(entry.heading)), h("span", { class: "turn" }, turn));
  return h(open ? "button" : "article", open ? { type: "button", class: "entry", onclick: () => open(entry.task) } : { class: "entry" }, head,
    h("span", { class: "size" }, entry.size, entry.misclassified ? h("span", { class: "flag" }, "misclassified") : null),
    shown.pictures?.length ? h("span", { class: "pictures" }, shown.pictures.map((each) => h("span", {}, h("img", { src: each.source, alt: each.description, width: each.width, height: each.height }), h("small", {}, each.caption)))) : null,
    shown.changed?.length ? h("span", { class: "cells" }, shown.changed.map((each) => cell(each))) : null,
    (shown.passages ?? []).map((passage) => h("span", { class: "passage", dir: "auto" }, passage.pieces.map(([piece, marked]) => (marked ? h(entry.sign ? "del" : "mark", {}, piece) : piece)))),
    (shown.chips ?? []).map((row) => chips(row.caption, row.names, row.kind)));
}

const cell = (each) => h("span", { class: "entry-cell" }, h("span", { class: "column" }, named(each.name)),
  each.after ? [h("span", { class: "was" }, named(each.value)), h("span", { "aria-label": "becomes" }, "→"), h("b", { class: "now" }, named(each.after))] : h("b", { class: "now" }, named(each.value)));
