// The page: what is on top, which view is shown, and the keys.

import { button, fill, h, named, s } from "./dom.js";
import { exportView } from "./exporting.js";
import { keyboard } from "./keys.js";
import { get, lookAt } from "./server.js";
import { statusLine } from "./status.js";
import { storeView } from "./store.js";
import { liveView } from "./studio.js";
import { count, number } from "./words.js";

const place = document.getElementById("studio");

async function start() {
  const first = await get("about");
  const page = { about: first, view: null, live: null };
  const status = statusLine(() => page.live?.live.stop());
  const keys = keyboard(actions(page, () => keys.open(), save));
  const liveBox = h("div", { class: "live-box" });
  const store = first.store ? storeView(first.store, { openLive, trouble: (error) => status.end("bad", error.message) }) : null;
  const views = store ? h("nav", { class: "views", "aria-label": "Views" }) : null;

  // A view of a model, or of two; it stays as it is when one returns to it.
  async function open(view) {
    if (page.view === view) return page.live;
    page.live?.live.stop();
    lookAt(view);
    const about = view ? { ...(await get(`about/${view}`)), store: first.store } : first;
    page.about = about;
    page.view = view;
    page.live = await liveView(about, status);
    fill(liveBox, page.live.element);
    return page.live;
  }

  // An answer of a store, in the view of its models.
  async function openLive(view, row, fixed, within) {
    const fresh = page.view !== view;
    const live = await open(view);
    live.live.stop();
    live.state.keep([...live.state.fixed], false);
    live.state.keep(fixed, true);
    live.state.setWithin(within);
    live.show(row);
    if (fresh) live.state.forget();
    show(true);
  }

  function show(live) {
    liveBox.hidden = !live;
    if (store) store.element.hidden = live;
    document.getElementById("foot").hidden = !live;
    tabs();
    heading();
    scrollTo(0, 0);
  }

  function tabs() {
    if (!views) return;
    const live = !liveBox.hidden;
    fill(views, button("Answers", () => show(false), { "aria-current": String(!live) }),
      first.store.views.map(({ view, title }) => button(first.store.views.length > 1 ? `Live: ${title}` : "Live view",
        () => visit(view), { "aria-current": String(live && view === page.view) })));
  }

  async function visit(view) {
    const fresh = page.view !== view;
    const live = await open(view);
    show(true);
    if (fresh) await live.begin();
  }

  function heading() {
    const about = store && liveBox.hidden ? { models: [], store: first.store } : page.about;
    fill(document.getElementById("top"), brand(about), views, h("div", { class: "top-actions" },
      button("Export", save, { title: "Save this view as one HTML file (X)" }),
      button("?", keys.open, { "aria-label": "Keys", title: "Keys (?)", class: "round" })));
    document.title = `${titles(about).join(" and ")} · tmverify studio`;
  }

  function save() {
    exportView(store && liveBox.hidden ? first.store.name : titles(page.about).join(" and "));
  }

  fill(place, store?.element, liveBox, keys.dialog);
  fill(document.getElementById("foot"), status.element);
  show(!store);
  if (!store) await visit(0);
}

const titles = (about) => (about.models.length ? about.models.map((each) => each.title) : [about.store?.name ?? "studio"]);

function brand(about) {
  const facts = about.models.map((each) => `${count(each.classes.length, "class")}, ${number(each.n_clauses)} clauses, ${number(each.n_features)} bits`);
  const { data } = about;
  const right = data && data.accuracy !== null && data.accuracy !== undefined ? `, ${(data.accuracy * 100).toFixed(1)} % right` : "";
  return h("div", { class: "brand" }, h("p", { class: "kicker" }, logo(), "tmverify studio"),
    h("h1", {}, titles(about).flatMap((each, i) => [i ? h("span", { class: "beside" }, " beside ") : null, named(each)])),
    h("p", { class: "made" }, about.models.length ? null : "The answers of a campaign. Each opens in a live view.", [...new Set(facts)].join(" · "), data ? [" · ", named(data.name), `, ${count(data.rows, "row")}${right}`] : ""));
}

// Nine pixels, three of them on.
function logo() {
  const square = ([x, y], name) => s("rect", { class: name, x: x + 0.08, y: y + 0.08, width: 0.84, height: 0.84, rx: 0.16 });
  const on = [[2, 0], [0, 1], [1, 2]];
  const off = [[0, 0], [1, 0], [1, 1], [2, 1], [0, 2], [2, 2]];
  return s("svg", { class: "logo", viewBox: "0 0 3 3", "aria-hidden": "true" }, on.map((each) => square(each, "lit")), off.map((each) => square(each, "off")));
}

function actions(page, help, save) {
  const state = () => page.live?.state;
  return [
    { key: "u", shift: false, act: () => state()?.undo(), text: "undo (also Ctrl-Z)" },
    { key: "u", shift: true, act: () => state()?.redo(), text: "redo (also Ctrl-Y)", shown: "Shift-U" },
    { key: "z", command: true, shift: false, act: () => state()?.undo() },
    { key: "z", command: true, shift: true, act: () => state()?.redo() },
    { key: "y", command: true, act: () => state()?.redo() },
    { key: "r", act: () => state()?.reset(), text: "reset to the row" },
    { key: "a", act: () => page.live?.applyNearest(), text: "apply the nearest change" },
    { key: "n", act: () => page.live?.step(1), text: "next row" },
    { key: "p", act: () => page.live?.step(-1), text: "previous row" },
    { key: "i", act: () => document.querySelector(".board, #input :is(.form input, .form select, textarea, button.bit)")?.focus(), text: "to the input" },
    { key: "x", act: save, text: "export this view" },
    { key: "Escape", act: () => page.live?.live.stop(), text: "stop what is running", shown: "Escape" },
    { key: "?", act: help, text: "this help", shown: "?" },
  ];
}

start().catch((error) => {
  fill(place, h("p", { class: "notice bad", role: "alert" }, error.message));
});
