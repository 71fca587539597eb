// Two models side by side: whether they agree here, and the nearest input on which they do not.

import { distancePanel } from "./distance.js";
import { h, named } from "./dom.js";
import { count } from "./words.js";

export function comparePanel(context) {
  const [first, second] = context.about.models.map((each) => each.title);
  return distancePanel(context, {
    name: "disagree", model: null, heading: "Where the two disagree", title: "",
    words: {
      never: "The models never disagree",
      means({ lower, exact, never, unit, fixed, done }) {
        if (never) return `No change that is allowed makes them disagree${fixed}.`;
        if (exact && lower === 0) return "They disagree on this very input.";
        if (exact && lower === 1) return `must change${fixed}. Here they agree.`;
        if (exact) return `must change before they disagree${fixed}. Within ${count(lower - 1, unit)} they agree${fixed ? " as long as these stay" : " everywhere"}.`;
        return done ? "must change before they disagree." : "How many must change before they disagree?";
      },
      spoken: (n, unit) => (n === 0 ? "The models disagree here" : `The models disagree ${count(n, unit)} away`),
      turn: ({ decisions }) => [h("span", {}, named(first), " says "), h("b", { class: "before" }, named(decisions[0])), h("span", {}, ", ", named(second), " says "), h("b", { class: "after" }, named(decisions[1]))],
    },
  });
}
