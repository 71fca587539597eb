// The rows of the data: stepped through by number, or picked by class, by what is misclassified, by words,
// or by the smallest radius.

import { plain } from "./drawing.js";
import { button, fill, h, named, say } from "./dom.js";
import { post, stream } from "./server.js";
import { count, number } from "./words.js";

const PAGE = 48;
const RANKED = 200;

export function rowPicker(context) {
  const { about, columns, state } = context;
  const picture = columns.parts.length === 1 && columns.parts[0].kind === "image" && columns.parts[0].n <= 1024 ? columns.parts[0] : null;
  const classes = about.models[0].classes;
  const data = about.data;
  const decided = chooser("decided", "Decided", classes);
  const labelled = data.labelled ? chooser("labelled", "Labelled", classes) : null;
  const wrong = h("input", { type: "checkbox", onchange: again });
  const search = h("input", { type: "search", "aria-label": "Search the rows", placeholder: data.raw ? "name or cell …" : "name …", oninput: again });
  const sort = h("select", { "aria-label": "Order", onchange: again }, h("option", { value: "number" }, "by number"), h("option", { value: "radius" }, "smallest radius first"));
  const measure = button("Measure radii", rank, { class: "small", hidden: true, title: `Find the exact radius of ${RANKED} rows` });
  const list = h("ul", { class: picture ? "rows thumbs" : "rows" });
  const total = h("p", { class: "hint", role: "status", "aria-live": "polite" });
  const more = button("More", () => load(rows.length), { class: "more", hidden: true });
  const field = h("input", { type: "number", min: 0, max: data.rows - 1, class: "row-number", "aria-label": `Row, 0 to ${data.rows - 1}`, onchange: () => open(Number(field.value)) });

  let rows = [];
  let found = 0;
  let asking = null;
  let ranking = null;

  function chooser(name, caption, values) {
    return h("select", { name, "aria-label": caption, onchange: again }, h("option", { value: "" }, `${caption}: any`), values.map((value) => h("option", { value }, `${caption}: ${value}`)));
  }

  const filter = () => ({ decided: decided.value || null, labelled: labelled?.value || null, wrong: wrong.checked, text: search.value.trim() || null });

  function again() {
    measure.hidden = sort.value !== "radius";
    return load(0);
  }

  async function load(offset) {
    asking?.abort();
    asking = new AbortController();
    try {
      const page = await post("rows", { filter: filter(), sort: sort.value, offset, limit: PAGE }, asking.signal);
      rows = offset ? [...rows, ...page.rows] : page.rows;
      found = page.total;
      show(offset);
    } catch (error) {
      if (error.name !== "AbortError") context.trouble(error);
    }
  }

  function show(offset) {
    const items = rows.slice(offset).map(item);
    if (offset) list.append(...items);
    else fill(list, items);
    more.hidden = rows.length >= found;
    if (!ranking) say(total, found === data.rows ? count(found, "row") : `${number(found)} of ${count(data.rows, "row")}`);
    current();
  }

  function item(row) {
    const miss = row.label !== null && row.label !== undefined && String(row.label) !== String(row.decision);
    const far = row.never ? "never" : row.radius !== null && row.radius !== undefined ? `radius ${row.radius}` : row.at_least ? `at least ${row.at_least}` : "";
    const name = row.name ?? `row ${row.index}`;
    const told = [name, `decided ${row.decision}`, miss ? `labelled ${row.label}` : "", far].filter(Boolean).join(", ");
    const face = picture && row.thumb
      ? [plain(picture, row.thumb.bits, ""), h("small", {}, miss ? [h("span", { class: "miss" }, "✕ "), named(row.decision)] : named(row.decision), far ? ` · ${row.never ? "∞" : (row.radius ?? `≥${row.at_least}`)}` : "")]
      : [h("b", {}, named(name)), h("span", {}, named(row.decision)), miss ? h("span", { class: "miss" }, "✕ labelled ", named(row.label)) : null, far ? h("small", {}, far) : null];
    const press = h("button", { type: "button", class: miss ? "row wrong" : "row", "aria-label": told, title: told, onclick: () => open(row.index) }, face);
    press.dataset.index = row.index;
    return h("li", {}, press);
  }

  // One stop for the Tab key; arrow keys move within.
  list.addEventListener("keydown", (event) => {
    const ways = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (!ways[event.key]) return;
    const buttons = [...list.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    const perLine = picture ? Math.max(1, buttons.findIndex((each) => each.offsetTop > buttons[0].offsetTop)) : 1;
    const by = ways[event.key] * (event.key === "ArrowDown" || event.key === "ArrowUp" ? perLine : 1);
    const next = buttons[at + by];
    if (!next) return;
    event.preventDefault();
    for (const each of buttons) each.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });

  function current() {
    const index = state.base.row;
    field.value = index ?? "";
    const buttons = [...list.querySelectorAll("button")];
    const mine = buttons.find((each) => Number(each.dataset.index) === index);
    for (const each of buttons) {
      each.tabIndex = each === (mine ?? buttons[0]) ? 0 : -1;
      if (each === mine) each.setAttribute("aria-current", "true");
      else each.removeAttribute("aria-current");
    }
  }

  async function open(index) {
    if (!Number.isInteger(index) || index < 0 || index >= data.rows) return current();
    try {
      context.show(await post("row", { index }));
    } catch (error) {
      context.trouble(error);
    }
    return undefined;
  }

  // The next row of the list as it is filtered and sorted.
  async function step(by) {
    const at = rows.findIndex((row) => row.index === state.base.row);
    if (at < 0) return rows.length && open(rows[0].index);
    if (at + by >= rows.length && rows.length < found) await load(rows.length);
    return rows[at + by] && open(rows[at + by].index);
  }

  async function rank() {
    if (ranking) return ranking.abort();
    ranking = new AbortController();
    say(measure, "Stop");
    let measured = 0;
    try {
      await stream("rank", { tab: context.live.tab, filter: filter(), limit: RANKED }, ranking.signal, (name, event) => {
        if (name === "error") context.trouble(new Error(event.error));
        if (name !== "rank") return;
        measured += 1;
        say(total, `${count(measured, "row")} measured`);
        if (measured % 5 === 0) load(0);
      });
    } catch (error) {
      if (error.name !== "AbortError") context.trouble(error);
    }
    ranking = null;
    say(measure, "Measure radii");
    return load(0);
  }

  state.listen((what) => what === "input" && current());
  const stepper = h("div", { class: "stepper", role: "group", "aria-label": "Row of the data" },
    button("‹", () => step(-1), { "aria-label": "Previous row", title: "Previous row (P)" }), field,
    button("›", () => step(1), { "aria-label": "Next row", title: "Next row (N)" }), h("span", { class: "of" }, `of ${number(data.rows)}`));
  const element = h("section", { class: "card rows-card", "aria-label": "Rows" },
    h("header", {}, h("h2", {}, "Rows"), h("span", { class: "whose" }, named(data.name))),
    h("div", { class: "filters" }, decided, labelled, sort, search,
      data.labelled ? h("label", { class: "check" }, wrong, "misclassified only") : null, measure),
    total, h("div", { class: "rows-scroll" }, list, more));
  again();
  return { element, stepper, step, open };
}
