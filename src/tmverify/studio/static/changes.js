// A change drawn: from one input to another, in the way of its kind.

import { changed, plain } from "./drawing.js";
import { h, named } from "./dom.js";
import { legend } from "./picture.js";
import { count } from "./words.js";

const MANY = 40;

export function drawnChange({ columns, editors }, from, change) {
  const shown = [];
  for (const part of columns.of("image")) {
    const set = differing(columns, part, from, change.bits);
    if (!set.length) continue;
    const on = set.filter((column) => columns.isOn(change.bits, column)).length;
    const off = set.length - on;
    shown.push(h("figure", { class: "sketch" }, changed(part, from, change.bits, `The nearest change: ${count(on, "pixel")} set and ${off} cleared`),
      h("div", {}, plain(part, change.bits, "The picture after the change"), h("small", {}, "after it")), legend(on && "set", off && "cleared")));
  }
  for (const part of columns.of("text")) shown.push(words(columns, editors, part, from, change.bits));
  const cells = columns.parts.filter((part) => part.values && columns.differs(from, change.bits, part.start));
  if (cells.length) shown.push(h("ul", { class: "cells" }, cells.map((part) => cellChange(columns, part, from, change.bits))));
  for (const part of columns.of("bits")) shown.push(flips(columns, part, from, change.bits));
  return shown;
}

function differing(columns, part, a, b) {
  const found = [];
  for (let i = 0; i < part.n; i += 1) if (a[part.bit + i] !== b[part.bit + i]) found.push(part.start + i);
  return found;
}

export const changedColumns = (columns, a, b) =>
  columns.parts.flatMap((part) => (part.values ? (columns.differs(a, b, part.start) ? [part.start] : []) : differing(columns, part, a, b)));

function cellChange(columns, part, from, after) {
  return h("li", {}, h("span", { class: "column" }, named(part.name)), h("span", { class: "was" }, named(part.values[columns.value(from, part)] ?? "no value")),
    h("span", { class: "arrow", "aria-label": "becomes" }, "→"), h("b", { class: "now" }, named(part.values[columns.value(after, part)] ?? "no value")));
}

function words(columns, editors, part, from, after) {
  const differ = differing(columns, part, from, after);
  if (!differ.length) return null;
  const added = differ.filter((column) => columns.isOn(after, column));
  const removed = new Set(differ.filter((column) => !columns.isOn(after, column)));
  const editor = editors.find((one) => one.part === part);
  return h("div", {}, removed.size && editor ? passage(editor.spans(), (column) => removed.has(column), "del") : null,
    chips("insert", added.map((c) => columns.name(c)), "added"), chips("delete", [...removed].map((c) => columns.name(c)), "removed"));
}

export function passage({ text, spans }, marked, tag) {
  const pieces = [];
  let end = 0;
  for (const [from, to, column] of spans) {
    if (from < end || !marked(column)) continue;
    pieces.push(text.slice(end, from), h(tag, {}, text.slice(from, to)));
    end = to;
  }
  return pieces.length ? h("p", { class: "passage", dir: "auto" }, pieces, text.slice(end)) : null;
}

export const chips = (caption, texts, kind) =>
  texts.length ? h("p", { class: `chips ${kind}` }, h("small", {}, caption), texts.slice(0, MANY).map((text) => h("span", { class: "chip" }, named(text))),
    texts.length > MANY ? h("small", {}, `and ${texts.length - MANY} more`) : null) : null;

function flips(columns, part, from, after) {
  const differ = differing(columns, part, from, after);
  return [chips("set", differ.filter((c) => columns.isOn(after, c)).map((c) => columns.name(c)), "added"),
    chips("clear", differ.filter((c) => !columns.isOn(after, c)).map((c) => columns.name(c)), "cleared-bits")];
}
