// What the bits mean: columns, their values, and the pattern of bits of each value.
//
// An input is a string of 0 and 1. A column is what can change by itself: a pixel, a word, a flag, a number or
// a category. Pixels, words and flags are one bit each.

const MANY = { image: true, text: true };
const NAMES = { image: "pixel", text: "word" };

export class Columns {
  constructor(about) {
    this.nBits = about.models[0].n_features;
    this.parts = about.kind === "bits" ? [bare(about, this.nBits)] : about.parts.map((part) => completed(part, about));
    this.count = this.parts.reduce((sum, part) => sum + part.n, 0);
    this.words = about.words ?? [];
    this.unit = about.unit ? about.unit.replace(/s$/, "") : this.#unit(about.kind);
  }

  #unit(kind) {
    if (kind === "bits") return "feature";
    const kinds = new Set(this.parts.map((part) => NAMES[part.kind] ?? "column"));
    return kinds.size === 1 ? [...kinds][0] : "column";
  }

  of(...kinds) {
    return this.parts.filter((part) => kinds.includes(part.kind));
  }

  part(column) {
    return this.parts.find((part) => column >= part.start && column < part.start + part.n);
  }

  // The first bit of a column.
  bit(column) {
    const part = this.part(column);
    return part.bit + (column - part.start);
  }

  columnOfBit(bit) {
    const part = this.parts.find((one) => bit >= one.bit && bit < one.bit + one.nBits);
    return part.values ? part.start : part.start + (bit - part.bit);
  }

  isOn(bits, column) {
    return bits[this.bit(column)] === "1";
  }

  // The bits of a part.
  own(bits, part) {
    return bits.slice(part.bit, part.bit + part.nBits);
  }

  // Whether two inputs differ in a column.
  differs(a, b, column) {
    const part = this.part(column);
    if (!part.values) return a[this.bit(column)] !== b[this.bit(column)];
    return this.own(a, part) !== this.own(b, part);
  }

  // The index of the value that a part of one column has, or −1 if its bits are no value's.
  value(bits, part) {
    return part.patterns.indexOf(this.own(bits, part));
  }

  withValue(bits, part, index) {
    return bits.slice(0, part.bit) + part.patterns[index] + bits.slice(part.bit + part.nBits);
  }

  withPart(bits, part, own) {
    return bits.slice(0, part.bit) + own + bits.slice(part.bit + part.nBits);
  }

  name(column) {
    const part = this.part(column);
    if (part.kind === "image") {
      const { row, place, channel } = cell(part, column - part.start);
      return `row ${row + 1}, column ${place + 1}${part.channels > 1 ? `, channel ${channel + 1}` : ""}`;
    }
    if (part.kind === "text") return this.word(part, column);
    if (part.kind === "bits") return part.names[column] ?? `x${column}`;
    return part.name;
  }

  word(part, column) {
    let before = 0;
    for (const each of this.of("text")) {
      if (each === part) break;
      before += each.n;
    }
    return this.words[before + column - part.start] ?? `word ${column - part.start + 1}`;
  }
}

function completed(part, about) {
  if (MANY[part.kind]) {
    const n = part.n ?? part.shape[0] * part.shape[1] * (part.channels ?? 1);
    return { ...part, n, nBits: n, channels: part.channels ?? 1 };
  }
  const column = about.columns[part.start];
  const [from, to] = column.bits;
  return { ...part, n: 1, bit: from, nBits: to - from, values: column.values, patterns: column.patterns,
    missing: column.missing ?? null, unseen: column.unseen ?? null };
}

const bare = (about, n) => ({ kind: "bits", name: "bits", start: 0, bit: 0, n, nBits: n, names: about.names ?? [] });

// Where a pixel is: channels are innermost.
export function cell(part, offset) {
  const pixel = Math.floor(offset / part.channels);
  return { row: Math.floor(pixel / part.shape[1]), place: pixel % part.shape[1], channel: offset % part.channels };
}

export function withBit(bits, index, value) {
  return bits.slice(0, index) + (value ? "1" : "0") + bits.slice(index + 1);
}
