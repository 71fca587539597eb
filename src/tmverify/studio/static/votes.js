// The decision: the class, by how many votes it stands, and the votes of each class as bars.

import { fill, h, named, say } from "./dom.js";
import { count, number } from "./words.js";

const ALL = 12; // with more classes, those with the most votes are shown

export function decisionPanel(context, model) {
  const { title, classes } = context.about.models[model];
  const decided = h("output", { class: "decided" });
  const margin = h("p", { class: "margin" });
  const bars = h("div", { class: "bars", role: "list", "aria-label": "Votes of each class" });
  const firing = h("p", { class: "hint" });
  const note = h("p", { class: "notice", hidden: true });
  const rows = new Map();

  function row(name) {
    if (!rows.has(name)) {
      const bar = h("i", { class: "bar" });
      const lead = h("i", { class: "lead" });
      const value = h("span", { class: "n" });
      const element = h("div", { class: "vote", role: "listitem" }, h("span", { class: "name", title: name }, named(name)), h("span", { class: "track" }, h("i", { class: "axis" }), bar, lead), value);
      rows.set(name, { element, bar, lead, value });
    }
    return rows.get(name);
  }

  function show(look) {
    const labels = context.label();
    say(decided, String(look.decision));
    decided.classList.toggle("long", String(look.decision).length > 3);
    const wrong = labels !== null && String(labels) !== String(look.decision);
    fill(margin, look.tie && look.score === 0 ? [h("b", {}, "0 votes"), ": a score of 0 counts as ", named(look.decision)]
      : look.tie ? ["on a ", h("b", {}, "tie"), " with ", named(look.runner_up), ": the first of them is taken"]
      : ["by ", h("b", {}, count(look.margin, "vote")), look.runner_up === null || look.runner_up === undefined ? "" : [" over ", named(look.runner_up)]],
      wrong ? h("span", { class: "flag" }, "labelled ", named(labels)) : null);
    draw(look);
    say(firing, `${count(look.firing, "clause")} of ${number(context.about.models[model].n_clauses)} vote here.`);
  }

  // A machine of two classes has one score: one bar, from the middle towards the class that it is for.
  let widest = 1;
  const score = { bar: h("i", { class: "bar" }) };
  score.element = h("div", { class: "vote score wins", role: "listitem" }, h("span", { class: "name", title: classes[0] }, named(classes[0])),
    h("span", { class: "track" }, h("i", { class: "axis" }), score.bar), h("span", { class: "name", title: classes[1] }, named(classes[1])));
  score.element.style.setProperty("--zero", "0.5");

  function drawScore(votes) {
    widest = Math.max(widest, Math.abs(votes)); // so that bars of one visit can be compared
    const end = 0.5 + votes / (2 * widest);
    score.bar.style.setProperty("--from", String(Math.min(0.5, end)));
    score.bar.style.setProperty("--to", String(Math.max(0.5, end)));
    score.element.setAttribute("aria-label", `A score of ${number(votes)}: below 0 for ${classes[0]}, above 0 for ${classes[1]}`);
    if (bars.firstChild !== score.element) fill(bars, score.element);
  }

  function draw(look) {
    if (look.score !== null && look.score !== undefined) return drawScore(look.score);
    const shown = look.votes.length <= ALL ? look.votes : look.votes.toSorted((a, b) => b.votes - a.votes).slice(0, ALL);
    const low = Math.min(0, ...shown.map((each) => each.votes));
    const high = Math.max(1, ...shown.map((each) => each.votes));
    const share = (votes) => (votes - low) / (high - low);
    const others = look.votes.filter((each) => String(each.class) !== String(look.decision)).map((each) => each.votes);
    const second = others.length ? Math.max(...others) : 0;
    const elements = shown.map((each) => {
      const { element, bar, lead, value } = row(String(each.class));
      const wins = String(each.class) === String(look.decision);
      element.classList.toggle("wins", wins);
      element.classList.toggle("second", String(each.class) === String(look.runner_up));
      element.style.setProperty("--zero", String(share(0)));
      bar.style.setProperty("--from", String(share(Math.min(0, each.votes))));
      bar.style.setProperty("--to", String(share(Math.max(0, each.votes))));
      lead.hidden = !wins || each.votes <= second;
      lead.style.setProperty("--from", String(share(second)));
      lead.style.setProperty("--to", String(share(each.votes)));
      say(value, number(each.votes));
      return element;
    });
    if (elements.length !== bars.children.length || elements.some((element, i) => bars.children[i] !== element)) fill(bars, elements, rest(look, shown));
  }

  const rest = (look, shown) => (look.votes.length > shown.length ? h("p", { class: "hint" }, `and ${look.votes.length - shown.length} classes with fewer votes`) : null);

  const element = h("section", { class: "card decision", "aria-label": `Decision of ${title}` },
    h("header", {}, h("h2", {}, "Decision"), context.two ? h("span", { class: "whose" }, named(title)) : null),
    h("div", { class: "verdict" }, decided, margin), note, bars, firing);
  element.dataset.classes = String(classes.length);
  return {
    element,
    name: "look",
    model,
    begin() {},
    on(look) {
      show(look.models[model]);
      const impossible = look.possible === false;
      note.hidden = !impossible;
      if (impossible) say(note, `No row is like this: ${(look.impossible_columns ?? []).map((c) => (typeof c === "number" ? context.columns.name(c) : String(c))).join(", ")} cannot be so.`);
    },
  };
}
