// A table's row as a form: sliders over the intervals of numbers, lists of categories, switches.

import { freshId, h, named, say } from "./dom.js";
import { lock } from "./locks.js";

export function form({ parts, columns, state, pointing }) {
  const rows = parts.map((part) => field(part, columns, state));
  const byColumn = new Map(rows.map((row) => [row.part.start, row]));
  const show = () => rows.forEach((row) => row.show());
  state.listen((what) => what === "input" && show());
  state.listen((what) => what === "fixed" && rows.forEach((row) => row.element.classList.toggle("kept", state.fixed.has(row.part.start))));
  pointing.listen((conditions) => {
    const pointed = new Set(conditions.map(([column]) => column));
    for (const row of rows) row.element.classList.toggle("pointed", pointed.has(row.part.start));
  });
  show();
  return {
    element: h("div", { class: "form", role: "group", "aria-label": "The columns of this row" }, rows.map((row) => row.element)),
    // Columns that a reason needs, as last proved; none while it is sought.
    need(list) {
      const needed = new Set(list);
      for (const [column, row] of byColumn) row.needed(needed.has(column));
    },
    // Where the nearest change would move a column.
    change(after) {
      for (const row of rows) row.after(after === null || !columns.differs(state.bits, after, row.part.start) ? -1 : columns.value(after, row.part));
    },
  };
}

function field(part, columns, state) {
  const id = freshId("column");
  const control = (part.values.length < 2 ? constant : part.kind === "number" ? slider : part.values.length <= 3 ? choice : list)(part, id, (index) =>
    state.edit(columns.withValue(state.bits, part, index), { joins: `column ${part.start}` }));
  const need = h("span", { class: "needed-mark", hidden: true, title: "This reason needs the column; there may be others without it" }, "in this reason");
  const cell = h("small", { class: "cell" });
  const to = h("small", { class: "to" });
  const element = h("div", { class: `field of-${part.kind}` },
    h("div", { class: "field-head" }, h("label", { for: id, id: `${id}-name` }, named(part.name)), need, cell, lock(part.start, part.name, state)),
    control.element, to);
  return {
    part, element,
    show() {
      const value = columns.value(state.bits, part);
      control.set(value);
      const own = state.base.cells?.[part.name];
      const same = !columns.differs(state.bits, state.base.bits, part.start);
      const written = own === null || own === undefined || own === "" ? "" : String(own);
      say(cell, same && written !== "" && written !== part.values[value] ? `here ${written}` : same ? "" : "changed");
      cell.classList.toggle("edited", !same);
      cell.title = same ? "" : `In the row: ${part.values[columns.value(state.base.bits, part)] ?? "no value"}`;
    },
    needed(yes) {
      need.hidden = !yes;
      element.classList.toggle("needs", yes);
    },
    after(index) {
      say(to, index < 0 ? "" : `nearest change: ${part.values[index]}`);
      control.ghost?.(index);
    },
  };
}

function constant(part, id) {
  return { element: h("output", { id, class: "constant" }, part.values[0] ?? "any"), set() {} };
}

// Numbers: one stop for each interval; a missing value is no stop but a box beside it.
function slider(part, id, choose) {
  const stops = part.values.map((_, i) => i).filter((i) => i !== part.missing);
  const said = h("output", { class: "value", for: id });
  const input = h("input", { type: "range", id, min: 0, max: stops.length - 1, step: 1 });
  const ghost = h("i", { class: "ghost", hidden: true, "aria-hidden": "true" });
  const missing = part.missing === null ? null : h("input", { type: "checkbox" });
  input.addEventListener("input", () => choose(stops[Number(input.value)]));
  missing?.addEventListener("change", () => choose(missing.checked ? part.missing : stops[Number(input.value)]));
  const share = (place) => (stops.length < 2 ? 0 : place / (stops.length - 1));
  return {
    element: h("div", { class: "slider" }, h("span", { class: "rail" }, input, ghost), said,
      missing && h("label", { class: "missing" }, missing, part.values[part.missing])),
    set(value) {
      const place = stops.indexOf(value);
      if (place >= 0) {
        input.value = String(place);
        input.style.setProperty("--share", String(share(place)));
      }
      input.classList.toggle("without", place < 0);
      input.setAttribute("aria-valuetext", part.values[value] ?? "no value");
      if (missing) missing.checked = value === part.missing;
      say(said, part.values[value] ?? "no value");
    },
    ghost(value) {
      const place = stops.indexOf(value);
      ghost.hidden = place < 0;
      ghost.style.setProperty("--share", String(share(Math.max(0, place))));
    },
  };
}

function list(part, id, choose) {
  const options = part.values.map((value, i) => h("option", { value: i }, value));
  const input = h("select", { id, onchange: () => choose(Number(input.value)) }, options);
  return {
    element: input,
    set(value) {
      input.value = value < 0 ? "" : String(value);
    },
  };
}

// A few values side by side, as radio buttons: two of them are a switch with words.
function choice(part, id, choose) {
  const inputs = part.values.map((value, i) =>
    h("input", { type: "radio", name: id, id: i ? `${id}-${i}` : id, value: i, onchange: () => choose(i) }));
  return {
    element: h("div", { class: "choice", role: "radiogroup", "aria-labelledby": `${id}-name` },
      inputs.map((input, i) => h("label", {}, input, h("span", {}, part.values[i])))),
    set(value) {
      inputs.forEach((input, i) => { input.checked = i === value; });
    },
  };
}
