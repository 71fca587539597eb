// The line that says what is running, for how long, and what waits; with Stop.

import { button, fill, h, say } from "./dom.js";
import { listed, seconds } from "./words.js";

const DOING = {
  look: "counting the votes", "warming up": "warming up", radius: "looking for the nearest change", reason: "looking for the reason",
  disagree: "looking for the nearest disagreement", rank: "measuring the rows", certificate: "making a certificate",
};
const NAMES = { radius: "the nearest change", reason: "the reason", disagree: "the disagreement" };

export function statusLine(stop) {
  const light = h("i", { class: "light", "aria-hidden": "true" });
  const text = h("span", { class: "doing" });
  const time = h("span", { class: "time" });
  const summary = h("span", { class: "summary" });
  const halt = button("Stop", stop, { class: "small stop", hidden: true, title: "Stop what is running (Escape)" });
  const element = h("div", { class: "status-line", role: "group", "aria-label": "State" }, light, text, time, summary, halt);
  let since = 0;
  let timer = null;

  function tick() {
    const passed = (performance.now() - since) / 1000;
    say(time, passed < 0.3 ? "" : seconds(passed));
  }

  function become(name, words) {
    element.className = `status-line ${name}`;
    say(text, words);
    halt.hidden = name !== "running";
  }

  return {
    element,
    // The decision and the radius, for screens on which their cards are out of sight while one draws.
    summary(...children) {
      fill(summary, ...children);
    },
    begin() {
      since = performance.now();
      become("running", "Counting the votes");
      timer ??= setInterval(tick, 100);
      tick();
    },
    on({ running, waiting = [] }) {
      const then = waiting.filter((name) => name !== running).map((name) => NAMES[name] ?? name);
      const words = running ? (DOING[running] ?? running) : "waiting for a free hand";
      become("running", `${words[0].toUpperCase()}${words.slice(1)}${then.length ? `, then ${listed([...new Set(then)])}` : ""}`);
    },
    end(name, words) {
      clearInterval(timer);
      timer = null;
      const passed = (performance.now() - since) / 1000;
      become(name, words);
      say(time, name.startsWith("ready") ? seconds(passed) : "");
    },
  };
}
