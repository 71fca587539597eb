// How far the decision is from another one, and the nearest change that makes it.

import { distancePanel } from "./distance.js";
import { h, named } from "./dom.js";
import { count, number } from "./words.js";

export function radiusPanel(context, model) {
  const unknownYet = "How many must change before the decision does?";
  return distancePanel(context, {
    name: "radius", model, heading: "How far to another decision",
    title: context.two ? context.about.models[model].title : "",
    words: {
      never: "No allowed change alters the decision",
      means({ lower, exact, never, unit, fixed, done }) {
        if (never) return `No change that is allowed alters the decision${fixed}.`;
        if (exact && lower <= 1) return `One ${unit} is enough to alter the decision${fixed}.`;
        if (exact) return `must change before the decision does${fixed}. Changing ${lower === 2 ? "one is not" : `${number(lower - 1)} is never`} enough.`;
        return done ? "must change before the decision does." : unknownYet;
      },
      spoken: (n, unit) => `Another decision is ${count(n, unit)} away`,
      turn: (change) => [h("span", {}, "Nearest change: "), h("b", { class: "before" }, named(context.decision(model))), h("span", { "aria-label": "becomes" }, " → "), h("b", { class: "after" }, named(change.decision))],
    },
  });
}
