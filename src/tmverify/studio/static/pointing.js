// What is pointed at: the columns of a clause, or of a change, shown on the input for as long.

export class Pointing {
  #listeners = [];

  constructor() {
    this.conditions = []; // [[column, 1 wanted on, 0 wanted off], …]
  }

  listen(listener) {
    this.#listeners.push(listener);
  }

  at(conditions) {
    this.conditions = conditions;
    for (const listener of this.#listeners) listener(conditions);
  }

  // Makes an element point: with the mouse, by focus, and by a tap, which stays.
  bind(element, conditions) {
    const show = () => this.at(conditions());
    const hide = () => this.at([]);
    element.addEventListener("pointerenter", show);
    element.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
    element.addEventListener("focusin", show);
    element.addEventListener("focusout", hide);
  }
}
