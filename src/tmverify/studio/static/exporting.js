// A saved view: what is shown, as one HTML file that loads nothing and runs nothing.

import { download } from "./server.js";
import { h } from "./dom.js";

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
const LEFT_OUT = ".actions, .tools, .status-line, .rows-card, .stepper, .history, .top-actions, .skip, .unseen, .more, .lock, dialog, script, link, .within .rail, .within button, .kept-note button, .notes button, .to-point, .checked, template, noscript, .views, .pager, .all-answers .filters";

export function exportView(title) {
  const copy = document.documentElement.cloneNode(true);
  settle(document.documentElement, copy);
  for (const each of copy.querySelectorAll(LEFT_OUT)) each.remove();
  for (const each of copy.querySelectorAll("[hidden]")) each.remove();
  for (const each of copy.querySelectorAll("button")) each.replaceWith(h("span", { class: each.className }, [...each.childNodes]));
  for (const each of copy.querySelectorAll("[tabindex], [aria-live]")) {
    each.removeAttribute("tabindex");
    each.removeAttribute("aria-live");
  }
  for (const each of copy.querySelectorAll("details")) each.setAttribute("open", "");
  for (const each of copy.querySelectorAll("[aria-busy]")) each.removeAttribute("aria-busy");
  copy.classList.add("saved");
  const head = copy.querySelector("head");
  head.prepend(h("meta", { charset: "utf-8" }), h("meta", { "http-equiv": "Content-Security-Policy", content: POLICY }));
  head.append(h("style", {}, styles()));
  const when = new Date().toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });
  copy.querySelector("main").append(h("footer", { class: "saved-note" }, `Saved ${when} from tmverify studio. “Proved” is said of exact answers only; this file is complete in itself and loads nothing.`));
  const text = `<!DOCTYPE html>\n${copy.outerHTML}\n`;
  download(new Blob([text], { type: "text/html" }), `${title.replace(/[^\w.-]+/g, "-")}-view.html`);
}

// What a person set lives in properties; a file keeps attributes only. Controls become what they say.
function settle(from, to) {
  const theirs = [...to.querySelectorAll("input, select, textarea, progress")];
  [...from.querySelectorAll("input, select, textarea, progress")].forEach((own, i) => {
    const copied = theirs[i];
    if (own.matches("select")) copied.replaceWith(h("span", { class: "value" }, own.selectedOptions[0]?.textContent ?? ""));
    else if (own.matches("textarea")) copied.remove();
    else if (own.matches("[type=radio], [type=checkbox]")) {
      copied.toggleAttribute("checked", own.checked);
      copied.setAttribute("disabled", "");
    } else if (own.matches("[type=range]")) {
      copied.setAttribute("value", own.value);
      copied.setAttribute("disabled", "");
    } else copied.remove();
  });
}

const styles = () => [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText)).join("\n");
