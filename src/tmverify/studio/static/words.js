// How numbers and counts are written.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const number = (n) => whole.format(n).replace("-", "−");

const PLURALS = { "class": "classes" };

export const count = (n, word) => `${number(n)} ${n === 1 ? word : (PLURALS[word] ?? `${word}s`)}`;

export function seconds(time) {
  if (time < 0.0995) return `${Math.max(1, Math.round(time * 1000))} ms`;
  return time < 10 ? `${time.toFixed(1)} s` : `${Math.round(time)} s`;
}

export const listed = (texts, word = "and") =>
  texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} ${word} ${texts.at(-1)}`;

// What an answer of a store is called: by its name, else by the number of its row.
export const called = ({ name, index }) => name || (index === null || index === undefined ? "every input" : `row ${index}`);

// From offsets in code points, as Python counts, to places in a JavaScript string: the same numbers, unless
// the text has characters beyond the first 65,536.
export function places(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (offset) => offset;
  const starts = [0];
  for (const character of text) starts.push(starts.at(-1) + character.length);
  return (offset) => starts[Math.min(offset, starts.length - 1)];
}
