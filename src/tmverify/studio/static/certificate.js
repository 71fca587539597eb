// The button at each proved statement: downloads the certificate, and says the command that checks it.

import { download, file } from "./server.js";
import { button, fill, h, say } from "./dom.js";

export function certificateButton(question) {
  const said = h("div", { class: "checked", "aria-live": "polite" });
  const press = button("Certificate", fetchIt, { class: "certificate", title: "Download the proof, to be checked by a program of one file" });

  async function fetchIt() {
    press.disabled = true;
    say(press, "Making …");
    fill(said);
    try {
      const { blob, name, check } = await file("certificate", question());
      download(blob, name);
      const command = h("code", { tabindex: 0 }, check);
      fill(said, h("small", {}, "Saved. Check it with"), command, button("Copy", () => copy(check, command), { class: "small" }));
    } catch (error) {
      fill(said, h("small", { class: "bad" }, error.message));
    }
    press.disabled = false;
    say(press, "Certificate");
  }

  return { press, said, clear: () => fill(said) };
}

// Where the clipboard is refused, the command is selected, ready for Ctrl-C.
async function copy(text, element) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    getSelection().selectAllChildren(element);
  }
}
