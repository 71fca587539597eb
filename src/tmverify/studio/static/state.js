// The input, and what was done to it: everything that the page asks the server about.
//
// A step is {bits, texts, base}: the bits, the texts that they were made from (null where there is none), and
// the row of the data that it started from. Steps are never changed, only replaced, so undo is a list.

const JOINED = 1000; // ms: edits of the same thing in this time are one step

export class State {
  #past = [];
  #future = [];
  #joins = null;
  #at = 0;
  #listeners = [];

  constructor(step) {
    this.step = step;
    this.fixed = new Set();
    this.within = null;
  }

  get bits() {
    return this.step.bits;
  }

  get base() {
    return this.step.base;
  }

  // Calls `listener(what)` after each change; `what` is "input", "fixed", "within" or "history".
  listen(listener) {
    this.#listeners.push(listener);
  }

  #tell(what) {
    for (const listener of this.#listeners) listener(what);
  }

  // A change of the input. Edits that name the same `joins` one after another become one step.
  edit(bits, { texts = this.step.texts, joins = null } = {}) {
    if (bits === this.step.bits && texts === this.step.texts) return;
    this.#become({ ...this.step, bits, texts }, joins);
  }

  // Another row, or what a store's answer is about: a step like any other, so that it can be undone.
  show(step) {
    this.#become(step, null);
  }

  #become(step, joins) {
    const now = performance.now();
    const joined = joins !== null && joins === this.#joins && (joins.startsWith("stroke") || now - this.#at < JOINED);
    if (!joined) this.#past.push(this.step);
    if (this.#past.length > 500) this.#past.shift();
    this.#future = [];
    this.#joins = joins;
    this.#at = now;
    this.step = step;
    this.#tell("input");
  }

  // Nothing before this step can be undone: it is the first one.
  forget() {
    this.#past = [];
    this.#future = [];
    this.#tell("history");
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  get canReset() {
    return this.step.bits !== this.base.bits;
  }

  undo() {
    this.#move(this.#past, this.#future);
  }

  redo() {
    this.#move(this.#future, this.#past);
  }

  #move(from, to) {
    if (!from.length) return;
    to.push(this.step);
    this.step = from.pop();
    this.#joins = null;
    this.#tell("input");
  }

  reset() {
    if (this.canReset) this.#become({ ...this.step, bits: this.base.bits, texts: this.base.texts }, null);
  }

  keep(columns, fixed) {
    const before = this.fixed.size;
    for (const column of columns) {
      if (fixed) this.fixed.add(column);
      else this.fixed.delete(column);
    }
    if (this.fixed.size !== before) this.#tell("fixed");
  }

  setWithin(within) {
    if (within === this.within) return;
    this.within = within;
    this.#tell("within");
  }
}
