// One question at a time: each change of the input asks anew, and cuts the older question off at once.
//
// Nothing waits for a pause in typing or drawing. Changes of one moment (one frame of the screen) are one
// question, since nobody could see what lies between.

import { stream, Trouble } from "./server.js";

const FRAME = 16; // ms
const ALL = ["look", "radius", "reason", "disagree"];

export class Live {
  #number = 0;
  #running = null;
  #due = null;
  #asked = 0;
  #open = new Set(); // panels whose last answer leaves something unknown
  #settled = new Set(); // questions that are answered for this input and these marks
  #tab = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");

  constructor({ state, panels, status, two, seconds }) {
    Object.assign(this, { state, panels, status, two, seconds });
  }

  get tab() {
    return this.#tab;
  }

  // `what` changed: the distance of the reason concerns the reason only, if all else is answered.
  changed(what) {
    if (what === "history") return;
    if (what === "within") {
      this.#settled.delete("reason");
      // "Radius + 1" is worked out by the server, which needs the radius for it.
      if (this.state.within === "auto") this.#settled.delete("radius");
    } else this.#settled.clear();
    if (this.#due) return;
    const due = {};
    this.#due = due;
    const ask = () => this.#due === due && this.#ask();
    // At once; only what follows within the same frame waits for the next one.
    if (performance.now() - this.#asked > FRAME) queueMicrotask(ask);
    else requestAnimationFrame(ask);
  }

  stop(reason = "it was stopped") {
    this.#due = null;
    if (!this.#running) return;
    this.#running.cut.abort();
    this.#unsettle(this.#running, reason);
    this.status.end("stopped", "Stopped.");
    this.#running = null;
  }

  #unsettle({ want, done }, reason) {
    for (const panel of this.panels) {
      if (!want.includes(panel.name) || done.has(panel)) continue;
      fresh(panel);
      panel.stop?.(reason);
    }
  }

  async #ask() {
    this.#due = null;
    this.#asked = performance.now();
    this.#running?.cut.abort();
    const want = ALL.filter((name) => (name !== "disagree" || this.two) && !this.#settled.has(name));
    const own = { cut: new AbortController(), want, done: new Set() };
    this.#running = own;
    const question = { bits: this.state.bits, fixed: [...this.state.fixed].sort((a, b) => a - b), within: this.state.within };
    for (const panel of this.panels) {
      if (!want.includes(panel.name)) continue;
      panel.begin(question);
      stale(panel);
    }
    this.status.begin();
    try {
      this.#number += 1;
      await stream("watch", { tab: this.#tab, number: this.#number, ...question, want, scope: "team" }, own.cut.signal,
        (name, event) => this.#running === own && this.#take(own, name, event));
      if (this.#running === own) this.#finish(own);
    } catch (error) {
      if (error.name === "AbortError" || this.#running !== own) return;
      this.#running = null;
      this.#unsettle(own, "the server did not answer");
      this.status.end("bad", error instanceof Trouble ? error.message : `The page stumbled: ${error.message}`);
      if (!(error instanceof Trouble)) throw error;
    }
  }

  #take(own, name, event) {
    if (name === "state") return this.status.on(event);
    if (name === "error") {
      own.trouble = event.error;
      return undefined;
    }
    for (const panel of this.panels) {
      if (panel.name !== name) continue;
      const mine = event.model === undefined || panel.model === undefined || panel.model === null || panel.model === event.model;
      const last = mine && (name === "look" || event.done);
      // Bounds that close are already about the new input; a reason is the older one until the last event.
      if (last || (mine && !panel.atTheEnd)) fresh(panel);
      panel.on(event);
      if (!last) continue;
      own.done.add(panel);
      if (event.status === "unknown" || event.minimal === "open") this.#open.add(panel);
      else this.#open.delete(panel);
    }
    return undefined;
  }

  #finish(own) {
    this.#running = null;
    for (const name of own.want) {
      if (this.panels.filter((panel) => panel.name === name).every((panel) => own.done.has(panel))) this.#settled.add(name);
    }
    this.#unsettle(own, own.trouble ?? "the server ended before it was answered");
    if (own.trouble) this.status.end("bad", own.trouble);
    else if (this.#open.size) this.status.end("ready open", "Not all settled");
    else this.status.end("ready", "All answered");
  }
}

// What a panel shows is of the previous question, until the new one is answered.
function stale({ element }) {
  element.classList.add("stale");
  element.setAttribute("aria-busy", "true");
  element.title = "Of the previous input, until the new answer is there";
}

function fresh({ element }) {
  element.classList.remove("stale");
  element.removeAttribute("aria-busy");
  element.removeAttribute("title");
}
