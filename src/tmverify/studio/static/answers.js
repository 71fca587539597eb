// The table of all answers, a page at a time.

import { button, fill, h, named, say } from "./dom.js";
import { post } from "./server.js";
import { called, number, seconds } from "./words.js";

const PAGE = 50;
const HEADS = [["name", "Input"], ["question", "Question"], ["epsilon", "ε", "n"], ["model", "Model"], ["label", "Label"], [null, "Decision"],
  ["status", "Status"], ["radius", "Distance", "n"], ["seconds", "Time", "n"]];
const FILTERS = [["question", "Question"], ["model", "Model"], ["data", "Inputs"], ["status", "Status"], ["label", "Label"]];

export function answersTable(open, trouble) {
  const chosen = Object.fromEntries(FILTERS.map(([name, caption]) =>
    [name, h("select", { "aria-label": caption, onchange: again }, h("option", { value: "" }, `${caption}: all`))]));
  const search = h("input", { type: "search", placeholder: "name, label, decision …", "aria-label": "Search the answers", oninput: again });
  const heads = HEADS.map(([key, text, kind]) => h("th", { scope: "col", class: kind }, key ? button(text, () => sortBy(key)) : text));
  const body = h("tbody");
  const where = h("span", { role: "status", "aria-live": "polite" });
  const before = button("‹ Previous", () => turn(-PAGE));
  const after = button("Next ›", () => turn(PAGE));
  let sort = "place";
  let descending = false;
  let offset = 0;
  let total = 0;
  let asking = null;

  function options(found) {
    for (const [name, caption] of FILTERS) {
      const select = chosen[name];
      const values = found[name] ?? [];
      select.hidden = values.length < 2;
      if (select.options.length === values.length + 1) continue;
      const { value } = select;
      fill(select, h("option", { value: "" }, `${caption}: all`), values.map((each) => h("option", { value: each }, each)));
      select.value = value;
    }
  }

  function sortBy(key) {
    if (sort === key) descending = !descending;
    else [sort, descending] = [key, false];
    HEADS.forEach(([each], i) => {
      if (each === sort) heads[i].setAttribute("aria-sort", descending ? "descending" : "ascending");
      else heads[i].removeAttribute("aria-sort");
    });
    again();
  }

  function again() {
    offset = 0;
    return refresh();
  }

  function turn(by) {
    offset = Math.max(0, offset + by);
    return refresh();
  }

  async function refresh() {
    asking?.abort();
    asking = new AbortController();
    const filter = Object.fromEntries(FILTERS.map(([name]) => [name, chosen[name].value || null]));
    try {
      const page = await post("store", { sort, descending, filter: { ...filter, text: search.value.trim() || null }, offset, limit: PAGE }, asking.signal);
      total = page.total;
      show(page.answers);
    } catch (error) {
      if (error.name !== "AbortError") trouble(error);
    }
  }

  function show(answers) {
    fill(body, answers.map(line), answers.length ? null : h("tr", {}, h("td", { colspan: HEADS.length }, "No answer fits the filters.")));
    say(where, total ? `${number(offset + 1)} to ${number(offset + answers.length)} of ${number(total)}` : "");
    before.disabled = offset === 0;
    after.disabled = offset + answers.length >= total;
  }

  function line(answer) {
    return h("tr", {},
      h("th", { scope: "row" }, button(named(called(answer)), () => open(answer.task), { class: "open-answer", title: "Open this answer" })),
      h("td", {}, named(answer.question), answer.conditions ? h("small", {}, named(answer.conditions)) : null), h("td", { class: "n" }, answer.epsilon ?? ""),
      h("td", {}, named(answer.model)), h("td", {}, named(answer.label ?? "")), h("td", {}, named(answer.decision ?? "")),
      h("td", {}, answer.status ? h("span", { class: `status ${answer.status.replaceAll(" ", "-")}` }, answer.status) : "not answered", answer.reason ? h("small", {}, answer.reason) : null),
      h("td", { class: "n" }, answer.bounds ?? ""),
      h("td", { class: "n" }, typeof answer.seconds === "number" ? seconds(answer.seconds) : ""));
  }

  return {
    options, refresh,
    element: h("section", { class: "card all-answers", "aria-label": "All answers" }, h("header", {}, h("h2", {}, "All answers")),
      h("div", { class: "filters" }, Object.values(chosen), search),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of answers" }, h("table", { class: "answers" }, h("thead", {}, h("tr", {}, heads)), body)),
      h("div", { class: "pager" }, before, where, after)),
  };
}
