import { h } from "./dom.js";
export function answersView() { return { element: h("section", { class: "answers-view" }) }; }
