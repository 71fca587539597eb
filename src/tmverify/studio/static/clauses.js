// The clauses that vote, strongest first; pointing at one shows on the input what it wants.

import { wanted } from "./drawing.js";
import { button, fill, h, named, say } from "./dom.js";
import { legend } from "./picture.js";
import { number } from "./words.js";

const FIRST = 12;

export function clausesPanel(context, model) {
  const { title } = context.about.models[model];
  const pictures = context.columns.of("image").length === 1 && context.columns.parts.length === 1;
  const list = h("ul", { class: pictures ? "clauses drawn" : "clauses" });
  const more = button("", () => { all = !all; show(); }, { class: "more" });
  const rest = h("p", { class: "hint" });
  let all = false;
  let clauses = [];
  let firing = 0;

  function show() {
    const shown = all ? clauses : clauses.slice(0, FIRST);
    fill(list, shown.map(item));
    more.hidden = clauses.length <= FIRST;
    say(more, all ? "Fewer" : `Show ${clauses.length - FIRST} more`);
    say(rest, firing > clauses.length && (all || clauses.length <= FIRST) ? `and ${number(firing - clauses.length)} weaker ones` : "");
  }

  function item(clause) {
    const against = clause.votes < 0;
    const strength = h("span", { class: against ? "strength against" : "strength" }, `${against ? "" : "+"}${number(clause.votes)}`, h("small", {}, against ? " against " : " for ", named(clause.for)));
    const face = pictures
      ? [wanted(context.columns.parts[0], context.state.bits, clause.columns, clause.text), strength]
      : [strength, h("span", { class: "condition" }, named(clause.text || "always"))];
    const press = h("button", { type: "button", class: "clause", title: pictures ? clause.text : null }, face);
    context.pointing.bind(press, () => clause.columns);
    return h("li", {}, press);
  }

  return {
    element: h("section", { class: "card clauses-card", "aria-label": `Clauses of ${title}` },
      h("header", {}, h("h2", {}, "Clauses that vote"), context.two ? h("span", { class: "whose" }, named(title)) : null),
      h("p", { class: "hint" }, "Strongest first.", h("span", { class: "to-point" }, ` Point at one to see ${pictures ? "it on the picture" : "where it looks"}.`)),
      pictures ? legend("want-on", "want-off") : null,
      list, more, rest),
    name: "look",
    model,
    begin() {},
    on(look) {
      clauses = look.models[model].clauses;
      firing = look.models[model].firing;
      show();
    },
  };
}

