// The shared body of "how far to another decision" and "how far to a disagreement": bounds that close, the
// change that was found, and what can be done with it.

import { badge } from "./badge.js";
import { certificateButton } from "./certificate.js";
import { changedColumns, drawnChange } from "./changes.js";
import { button, fill, h, say } from "./dom.js";
import { gauge } from "./gauge.js";
import { count, seconds } from "./words.js";

// `words` says what the numbers mean: {what, never, certified(bounds), turn(change)}.
export function distancePanel(context, { name, model, heading, title, words }) {
  const { state, columns } = context;
  const unit = columns.unit;
  const mark = badge();
  const big = h("output", { class: "bounds" });
  const means = h("p", { class: "means" });
  const scale = gauge(unit);
  const turn = h("p", { class: "turn" });
  const drawn = h("div", { class: "change" });
  const apply = button("Apply this change", () => change && context.apply(change), { class: "primary", title: "Make this change (A)" });
  const keep = button("Keep these fixed", () => change && state.keep(changedColumns(columns, asked.bits, change.bits), true), { title: "Look for another change that leaves these alone" });
  const proof = certificateButton(() => ({ bits: asked.bits, fixed: asked.fixed, within: asked.within, what: name, model: model ?? 0 }));
  const trust = h("details", { class: "trust", hidden: true });
  const why = h("p", { class: "why" });
  const actions = h("div", { class: "actions" }, apply, keep, proof.press);
  let change = null;
  let drawnFor = "";
  let asked = null;
  let told = null;

  context.pointing.bind(apply, () => (change ? changedColumns(columns, asked.bits, change.bits).map((c) => [c, columns.isOn(change.bits, c) ? 1 : 0]) : []));

  // The best bounds so far: all that was told about one input is true of it.
  function best({ lower, upper = null, done }) {
    if (!done && told) {
      lower = Math.max(lower, told.lower);
      upper = upper === null ? told.upper : Math.min(upper, told.upper ?? upper);
    }
    told = { lower, upper };
    return told;
  }

  function show(event) {
    const { done } = event;
    const { lower, upper } = best(event);
    const exact = done && event.status === "exact";
    const never = done && event.status === "never";
    if (never) mark.show("good", "proved");
    else if (exact) mark.show("good", "proved");
    else if (done) mark.show("open", "unknown");
    else mark.show("live", "searching");
    const fixed = asked.fixed.length ? `, with ${count(asked.fixed.length, unit)} kept fixed` : "";
    if (never) fill(big, h("b", {}, "never"));
    else if (exact) fill(big, h("b", {}, String(lower)), ` ${lower === 1 ? unit : `${unit}s`}`);
    else if (upper === null) fill(big, h("small", {}, "at least "), h("b", {}, String(lower)));
    else if (lower === upper && !done) fill(big, h("b", {}, String(lower)), h("small", {}, " …"));
    else fill(big, h("small", {}, "between "), h("b", {}, String(lower)), h("small", {}, " and "), h("b", {}, String(upper)));
    say(means, words.means({ lower, upper, exact, never, unit, fixed, done }));
    say(why, done && !exact && !never ? `Not settled: ${event.why || "the search stopped"}.` : "");
    scale.show({ lower, upper, exact, never });
    scale.element.hidden = never;
    showChange(event.change ?? null);
    proof.press.hidden = !(exact || never);
    trust.hidden = !(done && event.trusts?.length);
    if (!trust.hidden) fill(trust, h("summary", {}, `What this rests on${event.seconds ? `, found in ${seconds(event.seconds)}` : ""}`), h("ul", {}, event.trusts.map((each) => h("li", {}, each))));
    if (done) context.said(name, model, exact ? words.spoken(lower, unit) : never ? words.never : `${heading}: unknown`);
  }

  function showChange(next) {
    change = next;
    turn.hidden = drawn.hidden = apply.hidden = keep.hidden = !change;
    // A change that is the same already is left in place, so that nothing flickers while the bounds close.
    const key = change ? `${asked.bits} ${change.bits}` : "";
    if (key === drawnFor) return;
    drawnFor = key;
    if (!change) return;
    fill(turn, words.turn(change));
    fill(drawn, drawnChange(context, asked.bits, change));
    context.nearest(change.bits);
  }

  const element = h("section", { class: `card distance ${name}`, "aria-label": title ? `${heading}, ${title}` : heading },
    h("header", {}, h("h2", {}, heading), title ? h("span", { class: "whose" }, title) : null, mark.element),
    h("div", { class: "distance-body" }, h("div", { class: "stand" }, big, means), scale.element, why, turn, drawn, actions, proof.said, trust));
  mark.show("waiting", "waiting");
  scale.element.hidden = turn.hidden = drawn.hidden = apply.hidden = keep.hidden = proof.press.hidden = true;

  return {
    element, name, model,
    begin(question) {
      asked = question;
      told = null;
      scale.begin();
      mark.show("live waiting", "searching");
      proof.press.hidden = true;
      proof.clear();
      trust.hidden = true;
      // A change of the older input must not be applied to the newer one.
      change = null;
      apply.hidden = keep.hidden = true;
    },
    on(event) {
      if (model === null || event.model === model) show(event);
    },
    stop(reason) {
      mark.show("open", "unknown");
      // Nothing was found out of this input: what is shown is of the previous one.
      if (!told) {
        fill(big, h("b", {}, "unknown"));
        say(means, "");
        scale.element.hidden = true;
        showChange(null);
      }
      say(why, `Not settled: ${reason}.`);
    },
    act: () => change && context.apply(change),
  };
}
