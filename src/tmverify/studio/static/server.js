// The page's only way to the server. Addresses are relative to this file's own, which holds the token.

const API = new URL("../api/", import.meta.url);

let view = 0;

// Which view all further questions are about: a model, or two, of those that were named.
export function lookAt(which) {
  view = which;
}

// What went wrong, as a sentence for people; `lost` if there was no answer at all.
export class Trouble extends Error {
  constructor(message, lost = false) {
    super(message);
    this.lost = lost;
  }
}

async function asked(path, options) {
  let answer;
  try {
    answer = await fetch(new URL(path, API), { credentials: "omit", redirect: "error", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble("The studio's server does not answer. Is it still running in your terminal?", true);
  }
  if (!answer.ok) throw new Trouble(await sentence(answer));
  return answer;
}

async function sentence(answer) {
  try {
    const said = await answer.json();
    if (typeof said.error === "string") return said.error;
  } catch {
    // No JSON: the number of the status has to do.
  }
  if (answer.status === 404) return "The server has nothing here. Was it started anew? Then open the address that it printed.";
  return `The server refused this (${answer.status}).`;
}

const sent = (body, signal) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(view ? { ...body, view } : body),
  signal,
});

export const get = async (path) => (await asked(path, {})).json();
export const post = async (path, body, signal) => (await asked(path, sent(body, signal))).json();

// A file: its bytes, its name, and the command that checks it.
export async function file(path, body, signal) {
  const answer = await asked(path, sent(body, signal));
  const name = /filename="?([^";]+)"?/.exec(answer.headers.get("Content-Disposition") ?? "");
  return {
    blob: await answer.blob(),
    name: name ? name[1] : "certificate.tmcert",
    check: decodeURIComponent(answer.headers.get("X-Tmverify-Check") ?? ""),
  };
}

// Server-sent events over fetch, which can send a body and be aborted; EventSource can do neither.
export async function stream(path, body, signal, take) {
  const answer = await asked(path, sent(body, signal));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await next(reader, signal);
    if (done) return;
    const blocks = (rest + value).replaceAll("\r", "").split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) deliver(block, take);
  }
}

async function next(reader, signal) {
  try {
    return await reader.read();
  } catch (error) {
    if (error.name === "AbortError" || signal?.aborted) throw new DOMException("Aborted", "AbortError");
    throw new Trouble("The connection to the server broke.", true);
  }
}

function deliver(block, take) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  if (data.length) take(name, JSON.parse(data.join("\n")));
}

export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
