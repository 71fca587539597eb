// Pictures of bits as SVG: a unit square for a pixel, one path for all pixels that look alike.
//
// Nothing is told by colour alone: a pixel that is set has a plus, one that is cleared a minus; a pixel wanted
// on has a dot, one wanted off a ring.

import { cell } from "./columns.js";
import { s } from "./dom.js";

const GAP = 1; // between the channels, which are drawn side by side

export const width = (part) => part.shape[1] * part.channels + GAP * (part.channels - 1);
export const height = (part) => part.shape[0];

// The square of a pixel: its upper left corner.
export function corner(part, offset) {
  const { row, place, channel } = cell(part, offset);
  return [place + channel * (part.shape[1] + GAP), row];
}

// The pixel at a point, as an offset, or null beside the picture.
export function pixelAt(part, x, y) {
  const pane = Math.floor(x / (part.shape[1] + GAP));
  const place = Math.floor(x - pane * (part.shape[1] + GAP));
  const row = Math.floor(y);
  if (x < 0 || pane >= part.channels || place >= part.shape[1] || row < 0 || row >= part.shape[0]) return null;
  return (row * part.shape[1] + place) * part.channels + pane;
}

const SHAPES = {
  square: (x, y) => `M${x} ${y}h1v1h-1z`,
  plus: (x, y) => `M${x + 0.5} ${y + 0.25}v.5M${x + 0.25} ${y + 0.5}h.5`,
  minus: (x, y) => `M${x + 0.25} ${y + 0.5}h.5`,
  dot: (x, y) => `M${x + 0.3} ${y + 0.5}a.2 .2 0 1 0 .4 0a.2 .2 0 1 0 -.4 0z`,
  ring: (x, y) => `M${x + 0.24} ${y + 0.5}a.26 .26 0 1 0 .52 0a.26 .26 0 1 0 -.52 0z`,
  stripes: (x, y) => `M${x + 0.08} ${y + 0.52}l.44 -.44M${x + 0.2} ${y + 0.86}l.66 -.66M${x + 0.5} ${y + 0.94}l.44 -.44`,
};

export const path = (part, offsets, shape) =>
  offsets.map((offset) => SHAPES[shape](...corner(part, offset))).join("");

const range = (n) => Array.from({ length: n }, (_, i) => i);

export function on(part, bits) {
  return range(part.n).filter((i) => bits[part.bit + i] === "1");
}

const layer = (part, name, offsets, shape) =>
  offsets.length ? s("path", { class: name, d: path(part, offsets, shape) }) : null;

export function paper(part) {
  return range(part.channels).map((channel) =>
    s("rect", { class: "paper", x: channel * (part.shape[1] + GAP), y: 0, width: part.shape[1], height: part.shape[0] }));
}

export function grid(part) {
  const lines = range(part.channels).map((channel) => {
    const x = channel * (part.shape[1] + GAP);
    return range(part.shape[1] + 1).map((i) => `M${x + i} 0v${part.shape[0]}`).join("")
      + range(part.shape[0] + 1).map((i) => `M${x} ${i}h${part.shape[1]}`).join("");
  });
  return s("path", { class: "grid", d: lines.join("") });
}

function picture(part, label, ...layers) {
  const drawing = s("svg", { class: "bits-picture", viewBox: `0 0 ${width(part)} ${height(part)}`, role: "img", "aria-label": label });
  drawing.append(...[...paper(part), ...layers].filter(Boolean));
  return drawing;
}

export function plain(part, bits, label) {
  return picture(part, label, layer(part, "on", on(part, bits), "square"));
}

const circles = (part, offsets, radius) => offsets.map((offset) => {
  const [x, y] = corner(part, offset);
  return `M${x + 0.5 - radius} ${y + 0.5}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0z`;
}).join("");

// From `bits` to `after`: what stays is dim, set pixels are green with a plus, cleared ones red with a minus.
export function changed(part, bits, after, label) {
  const differ = range(part.n).filter((i) => bits[part.bit + i] !== after[part.bit + i]);
  const set = differ.filter((i) => after[part.bit + i] === "1");
  const cleared = differ.filter((i) => after[part.bit + i] !== "1");
  const gone = new Set(cleared);
  return picture(part, label,
    layer(part, "on dim", on(part, bits).filter((i) => !gone.has(i)), "square"),
    layer(part, "set", set, "square"), layer(part, "set-mark", set, "plus"),
    layer(part, "cleared", cleared, "square"), layer(part, "cleared-mark", cleared, "minus"));
}

// The pixels that a reason needs, shaded; all others dim. Those of which it is open are striped.
export function needed(part, bits, columns, open, label) {
  const own = columns.filter((column) => column >= part.start && column < part.start + part.n).map((c) => c - part.start);
  const needs = new Set(own);
  const lit = own.filter((i) => bits[part.bit + i] === "1");
  const dark = own.filter((i) => bits[part.bit + i] !== "1");
  const unsure = open.map((c) => c - part.start).filter((i) => i >= 0 && i < part.n);
  // A few pixels of a large picture would be overlooked: a circle is drawn round each.
  const size = Math.max(...part.shape) / 16;
  const halo = size > 1 && own.length && own.length <= 40 ? s("path", { class: "halo", d: circles(part, own, size), "stroke-width": size * 0.25 }) : null;
  return picture(part, label,
    layer(part, "on faint", on(part, bits).filter((i) => !needs.has(i)), "square"), halo,
    layer(part, "need-on", lit, "square"), layer(part, "need-on-mark", lit, "dot"),
    layer(part, "need-off", dark, "square"), layer(part, "need-off-mark", dark, "ring"),
    layer(part, "unsure", unsure, "stripes"));
}

// What a clause wants, [[column, 1 or 0], …], over the faint input. In large pictures its marks are larger than
// their pixels, or nobody could see them in a small drawing.
export function wanted(part, bits, conditions, label) {
  const own = conditions.filter(([column]) => column >= part.start && column < part.start + part.n);
  const lit = own.filter(([, value]) => value).map(([column]) => column - part.start);
  const dark = own.filter(([, value]) => !value).map(([column]) => column - part.start);
  const size = Math.max(1, Math.max(height(part), width(part)) / 11);
  const marks = (name, offsets, radius, extra = {}) =>
    offsets.length ? s("path", { class: name, d: circles(part, offsets, radius * size), ...extra }) : null;
  return picture(part, label, layer(part, "on faint", on(part, bits), "square"),
    size > 1 ? marks("want-on", lit, 0.5) : layer(part, "want-on", lit, "square"), marks("want-on-mark", lit, 0.2),
    marks("want-off-mark", dark, 0.3, { "stroke-width": 0.15 * size }));
}
