// A picture to draw on: by mouse and finger (drag), and by keyboard (arrow keys and space).

import { on, corner, grid, height, paper, path, pixelAt, width } from "./drawing.js";
import { button, fill, h, s, say } from "./dom.js";

const TOOLS = [
  ["draw", "Draw", "Draw pixels; starting on a drawn pixel erases"],
  ["erase", "Erase", "Erase pixels"],
  ["keep", "Keep fixed", "Mark pixels that must not change; starting on a marked pixel unmarks"],
];

export function pictureEditor({ part, columns, state, pointing }) {
  const layers = Object.fromEntries(
    ["on", "kept", "want-on", "want-on-mark", "want-off", "want-off-mark"].map((name) => [name, s("path", { class: name })]));
  const cursor = s("rect", { class: "cursor", width: 1, height: 1 });
  const drawing = s("svg", { class: "bits-picture editor", viewBox: `-0.04 -0.04 ${width(part) + 0.08} ${height(part) + 0.08}`, "aria-hidden": "true" },
    paper(part), layers.on, grid(part), layers.kept, layers["want-on"], layers["want-on-mark"], layers["want-off"], layers["want-off-mark"], cursor);
  const spoken = h("span", { class: "unseen", role: "status", "aria-live": "polite" });
  const board = h("div", {
    class: "board", tabindex: 0, role: "application", "aria-roledescription": "picture to draw on",
    "aria-label": `${part.name}, ${part.shape[0]} by ${part.shape[1]} pixels. Arrow keys move, space draws and erases, F keeps a pixel fixed.`,
  }, drawing);

  let tool = "draw";
  let brush = 1;
  let place = Math.floor(part.shape[0] / 2) * part.shape[1] * part.channels + Math.floor(part.shape[1] / 2) * part.channels;

  const tools = TOOLS.map(([name, label, title]) =>
    button(label, () => choose(name), { title, class: `tool ${name}`, "aria-pressed": String(name === tool) }));
  const clear = button("Clear", () => state.edit(filled("0")), { title: "Clear all pixels" });
  const free = button("Free all", () => state.keep(own(), false), { class: "free", title: "Nothing is kept fixed any more" });
  const brushes = Math.max(...part.shape) < 16 ? [] : [1, 2, 3].map((size) =>
    button(h("span", { class: `dot dot-${size}` }), () => thick(size), {
      class: "brush", "aria-label": `Brush of ${size} ${size === 1 ? "pixel" : "pixels"}`, "aria-pressed": String(size === brush) }));

  const own = () => Array.from({ length: part.n }, (_, i) => part.start + i);
  const filled = (value) => columns.withPart(state.bits, part, value.repeat(part.n));

  function choose(name) {
    tool = name;
    TOOLS.forEach(([each], i) => tools[i].setAttribute("aria-pressed", String(each === name)));
    board.dataset.tool = name;
  }

  function thick(size) {
    brush = size;
    brushes.forEach((each, i) => each.setAttribute("aria-pressed", String(i + 1 === size)));
  }

  // --- strokes
  let stroke = null; // {value, last}: what the stroke paints, and where it was last
  let strokes = 0;

  function under(event) {
    const box = drawing.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * (width(part) + 0.08) - 0.04;
    const y = ((event.clientY - box.top) / box.height) * (height(part) + 0.08) - 0.04;
    return pixelAt(part, x, y);
  }

  function begin(event) {
    const pixel = under(event);
    if (pixel === null || event.button > 0) return;
    event.preventDefault();
    board.focus({ preventScroll: true });
    board.setPointerCapture(event.pointerId);
    const erases = event.buttons === 1 && event.altKey;
    const value = tool === "keep" ? !state.fixed.has(part.start + pixel)
      : tool === "draw" && !erases && state.bits[part.bit + pixel] !== "1";
    stroke = { value, last: pixel };
    strokes += 1;
    move(pixel);
    paint([pixel]);
  }

  function drag(event) {
    if (!stroke) return;
    for (const each of event.getCoalescedEvents?.() ?? [event]) {
      const pixel = under(each);
      if (pixel === null || pixel === stroke.last) continue;
      const between = line(stroke.last, pixel);
      stroke.last = pixel;
      move(pixel);
      paint(between);
    }
  }

  // The pixels from one to another, so that a quick stroke has no holes.
  function line(from, to) {
    const [x0, y0] = corner(part, from);
    const [x1, y1] = corner(part, to);
    const steps = Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0));
    return Array.from({ length: steps }, (_, i) => {
      const share = (i + 1) / steps;
      return pixelAt(part, Math.round(x0 + (x1 - x0) * share) + 0.5, Math.round(y0 + (y1 - y0) * share) + 0.5);
    }).filter((pixel) => pixel !== null);
  }

  function thickened(pixels) {
    if (brush === 1) return pixels;
    const found = new Set();
    const from = -Math.floor((brush - 1) / 2);
    for (const pixel of pixels) {
      const [x, y] = corner(part, pixel);
      for (let dy = from; dy < from + brush; dy += 1) {
        for (let dx = from; dx < from + brush; dx += 1) found.add(pixelAt(part, x + dx + 0.5, y + dy + 0.5));
      }
    }
    found.delete(null);
    return [...found];
  }

  function paint(pixels) {
    const all = thickened(pixels);
    if (tool === "keep") return state.keep(all.map((pixel) => part.start + pixel), stroke.value);
    const bits = state.bits.split("");
    for (const pixel of all) bits[part.bit + pixel] = stroke.value ? "1" : "0";
    state.edit(bits.join(""), { joins: `stroke ${part.name} ${strokes}` });
  }

  board.addEventListener("pointerdown", begin);
  board.addEventListener("pointermove", drag);
  for (const end of ["pointerup", "pointercancel"]) board.addEventListener(end, () => { stroke = null; });

  // --- keys
  function move(pixel) {
    place = pixel;
    const [x, y] = corner(part, pixel);
    cursor.setAttribute("x", x);
    cursor.setAttribute("y", y);
  }

  function stepped(dx, dy) {
    const [x, y] = corner(part, place);
    const to = pixelAt(part, x + dx + 0.5, y + dy + 0.5) ?? pixelAt(part, x + 2 * dx + 0.5, y + dy + 0.5);
    return to ?? place;
  }

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  board.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (ARROWS[event.key]) {
      const to = stepped(...ARROWS[event.key]);
      const draws = event.shiftKey && to !== place;
      move(to);
      if (draws) press("draw", true);
    } else if (event.key === " " || event.key === "Enter") {
      press(tool === "keep" ? "keep" : "draw");
    } else if (event.key.toLowerCase() === "f") {
      press("keep");
    } else return;
    event.preventDefault();
    event.stopPropagation();
    const name = columns.name(part.start + place);
    const kept = state.fixed.has(part.start + place) ? ", kept fixed" : "";
    say(spoken, `${name}, ${state.bits[part.bit + place] === "1" ? "on" : "off"}${kept}`);
  });

  function press(what, value = null) {
    const column = part.start + place;
    if (what === "keep") return state.keep([column], !state.fixed.has(column));
    const next = value ?? state.bits[part.bit + place] !== "1";
    strokes += 1;
    const bits = state.bits;
    const at = part.bit + place;
    state.edit(bits.slice(0, at) + (next ? "1" : "0") + bits.slice(at + 1));
  }

  // --- what is shown
  function draw() {
    layers.on.setAttribute("d", path(part, on(part, state.bits), "square"));
  }

  function drawKept() {
    const kept = [...state.fixed].filter((c) => c >= part.start && c < part.start + part.n).map((c) => c - part.start);
    layers.kept.setAttribute("d", path(part, kept, "stripes"));
    free.hidden = kept.length === 0;
  }

  function point(conditions) {
    const mine = conditions.filter(([c]) => c >= part.start && c < part.start + part.n);
    const lit = mine.filter(([, value]) => value).map(([c]) => c - part.start);
    const dark = mine.filter(([, value]) => !value).map(([c]) => c - part.start);
    layers["want-on"].setAttribute("d", path(part, lit, "square"));
    layers["want-on-mark"].setAttribute("d", path(part, lit, "dot"));
    layers["want-off"].setAttribute("d", path(part, dark, "square"));
    layers["want-off-mark"].setAttribute("d", path(part, dark, "ring"));
  }

  state.listen((what) => (what === "fixed" ? drawKept() : what === "input" && draw()));
  pointing.listen(point);
  choose("draw");
  move(place);
  draw();
  drawKept();
  return h("div", { class: "picture-part" }, board, spoken,
    h("div", { class: "tools", role: "toolbar", "aria-label": "Drawing" },
      h("span", { class: "joined" }, tools), brushes.length ? h("span", { class: "joined" }, brushes) : null, clear, free));
}

export function legend(...names) {
  const KEYS = {
    set: ["key set", "set"], cleared: ["key cleared", "cleared"],
    "need-on": ["key need-on", "must stay on"], "need-off": ["key need-off", "must stay off"],
    "want-on": ["key want-on", "wanted on"], "want-off": ["key want-off", "wanted off"],
    unsure: ["key unsure", "open"],
  };
  const list = h("p", { class: "legend" });
  return fill(list, names.filter(Boolean).map((name) => h("span", {}, h("i", { class: KEYS[name][0], "aria-hidden": "true" }), KEYS[name][1])));
}
