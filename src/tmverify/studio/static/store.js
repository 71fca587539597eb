// The answers of a campaign: what came of it, the smallest changes and reasons drawn, and a table of all.
//
// The server sorts, filters and cuts into pages. While it still reads the store, the page asks again.

import { answersTable } from "./answers.js";
import { fill, h, named, say } from "./dom.js";
import { entryCard, gallery } from "./gallery.js";
import { post } from "./server.js";
import { called, count, number } from "./words.js";

const AGAIN = 500; // ms

export function storeView(store, { openLive, trouble }) {
  const progress = h("progress", { max: 1, value: 0, "aria-label": "Answers read", hidden: true });
  const state = h("p", { class: "hint", role: "status" });
  const tiles = h("dl", { class: "tiles" });
  const lines = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Summary", hidden: true });
  const unknowns = h("div", { class: "unknowns" });
  const changes = gallery("changes", "The smallest changes", open, trouble);
  const reasons = gallery("reasons", "Reasons", open, trouble);
  const table = answersTable(open, trouble);
  const opened = h("section", { class: "card opened", hidden: true, tabindex: -1, "aria-label": "The answer" });

  async function refresh() {
    let summary;
    try {
      summary = await post("summary", {});
    } catch (error) {
      say(state, error.message);
      return trouble(error);
    }
    progress.hidden = summary.complete;
    progress.value = summary.of ? summary.read / summary.of : 0;
    say(state, summary.error || (summary.complete ? "" : `Reading: ${number(summary.read)} of ${count(summary.of, "answer")}`));
    table.options(summary.options);
    if (!summary.complete) {
      if (!summary.error) setTimeout(refresh, AGAIN);
      return table.refresh();
    }
    showTiles(summary.tiles ?? []);
    showLines(summary.lines ?? []);
    showUnknowns(summary);
    changes.total(summary.gallery ?? 0);
    reasons.total(summary.reasons ?? 0);
    return table.refresh();
  }

  function showTiles(found) {
    fill(tiles, found.map((tile) => h("div", { class: `tile ${tile.tone ?? ""}` }, h("dt", {}, tile.name), h("dd", { class: "figure" }, tile.value),
      tile.notes.map((note) => h("dd", { class: `note ${note.tone ?? ""}` }, named(note.text))))));
  }

  function showLines(found) {
    lines.hidden = !found.length;
    const head = ["Question", "ε", "Share", "Result", "Violated", "Unknown", "Answered", "Median", "Longest"];
    fill(lines, h("table", {}, h("thead", {}, h("tr", {}, head.map((text, i) => h("th", { scope: "col", class: i && i !== 2 ? "n" : null }, text)))),
      h("tbody", {}, found.map((line) => h("tr", {}, h("th", { scope: "row" }, named(line.title), line.title === line.question ? null : h("small", {}, named(line.question))),
        h("td", { class: "n" }, line.epsilon ?? "–"), h("td", { class: "barcell" }, shareBar(line)),
        h("td", { class: "n" }, `${number(line.positive)} ${line.adjective}`, h("small", {}, line.share)), h("td", { class: "n" }, number(line.violated)),
        h("td", { class: line.unknown ? "n open" : "n" }, number(line.unknown)), h("td", { class: "n" }, `${number(line.done)} of ${number(line.total)}`),
        h("td", { class: "n" }, line.median), h("td", { class: "n" }, line.longest))))));
  }

  function shareBar(line) {
    const piece = (n, name) => {
      const part = h("i", { class: name });
      part.style.flexGrow = String(n);
      return part;
    };
    return h("span", { class: "share", role: "img", "aria-label": `${line.positive} ${line.adjective}, ${line.violated} violated, ${line.unknown} unknown` },
      piece(line.positive, "good"), piece(line.violated, "bad"), piece(line.unknown, "open"), piece(line.total - line.done, "pending"));
  }

  function showUnknowns({ unknowns: why, refusals }) {
    const some = why ?? [];
    fill(unknowns, some.map((each) => h("p", { class: "notice" }, h("b", {}, each.reason), `: ${count(each.count, "answer")}. ${each.meaning}`)),
      refusals?.count ? h("p", { class: "notice bad" }, `${count(refusals.count, "answer")} in the store ${refusals.count === 1 ? "is" : "are"} not believed, and counted as none.`) : null);
  }

  // An answer goes on in the live view; if its model was not named, what is stored of it is shown, and the remedy.
  async function open(task) {
    try {
      const found = await post("answer", { task });
      const { answer } = found;
      const about = `${called(answer)}: ${answer.question}${answer.epsilon === null ? "" : `, ε ${answer.epsilon}`}, ${answer.status}`;
      if (found.view !== null && found.bits !== null) {
        return await openLive(found.view, { bits: found.bits, about, label: answer.label, notes: found.notes, witness: found.witness }, found.fixed, found.within);
      }
      fill(opened, h("header", {}, h("h2", {}, named(about))), found.entry ? entryCard(found.entry, null) : null,
        answer.detail ? h("p", { class: "hint" }, answer.detail) : null, found.notes.map((note) => h("p", { class: "hint" }, note)),
        h("p", { class: "notice" }, found.remedy || "This answer is about no single input, so there is nothing to open."));
      opened.hidden = false;
      opened.scrollIntoView({ block: "center" });
      return opened.focus({ preventScroll: true });
    } catch (error) {
      return trouble(error);
    }
  }

  const element = h("section", { class: "answers-view", "aria-label": "Answers" }, progress, state, tiles, lines, unknowns, opened,
    changes.element, reasons.element, table.element);
  refresh();
  return { element };
}
