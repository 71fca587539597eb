"use strict";
// The table of answers, and filters for it and for the gallery. Texts from the store reach the page only
// through textContent, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const place = Object.fromEntries(data.columns.map((name, i) => [name, i]));
  const isText = (name) => place[name] < place.index;
  const get = (row, name) => {
    const value = row[place[name]];
    return value === null || !isText(name) ? value : data.texts[value];
  };
  const changes = (row) => (row[place.change] ?? []).map((i) => data.texts[i]);
  const $ = (id) => document.getElementById(id);
  const make = (tag, text, kind) => {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const collator = new Intl.Collator(undefined, { numeric: true });

  const seconds = (s) => {
    if (s === null) return "";
    const digits = (value) => Number(value.toPrecision(3));
    if (s < 0.9995) return `${digits(1000 * s)} ms`;
    if (s < 99.95) return `${digits(s)} s`;
    if (s < 599.5) return `${Math.round(s)} s`;
    return s < 5999.5 ? `${digits(s / 60)} min` : `${digits(s / 3600)} h`;
  };
  const why = (row) => [get(row, "reason"), get(row, "detail")].filter(Boolean).join(": ");
  // the usual scope is not worth a column
  const usual = data.rows.every((row) => get(row, "scope") === "team" && get(row, "conditions") === null);
  const scope = (row) => usual ? "" : [get(row, "scope"), get(row, "conditions")].filter(Boolean).join(", ");
  const size = (row) => {
    const lower = row[place.lower];
    if (lower === null) return row[place.cost];
    return lower < 0 ? Infinity : lower;
  };
  const result = (row) => {
    const bounds = get(row, "bounds");
    if (bounds !== null) return `radius ${bounds}`;
    const cost = row[place.cost];
    if (cost === null) return "";
    const unit = get(row, "unit");
    if (unit === "cost") return `cost ${cost}`;
    return `${cost} ${unit === null ? "change" : "step"}${cost === 1 ? "" : "s"}`;
  };
  const change = (row) => changes(row).join(", ");

  // where every input has a line in the user's file, its index is of less interest
  const about = data.rows.filter((row) => row[place.index] !== null);
  const lined = about.length > 0 && about.every((row) => row[place.line] !== null);
  const line = ["Line", (row) => row[place.line] ?? (lined ? "any" : ""), (row) => row[place.line], "n"];
  const index = ["Input", (row) => row[place.index] ?? "any", (row) => row[place.index], "n"];

  // heading, what is said (all of it can be searched), what is sorted by, class of the cell
  const columns = [
    ["Name", (row) => get(row, "name"), (row) => get(row, "name")],
    ...(lined ? [line] : [line, index]),
    ["Question", (row) => get(row, "question"), (row) => get(row, "question")],
    ["ε", (row) => row[place.epsilon], (row) => row[place.epsilon], "n"],
    ["Status", (row) => get(row, "status"), (row) => get(row, "status"), "is-status"],
    ["Result", result, size, "short"],
    ["Decision", (row) => get(row, "decision"), (row) => get(row, "decision"), "short"],
    ["Change", change, change, "change"],
    ["Rule", (row) => get(row, "rule"), (row) => get(row, "rule"), "why"],
    ["Class", (row) => get(row, "label"), (row) => get(row, "label")],
    ["Model", (row) => get(row, "model"), (row) => get(row, "model")],
    ["Inputs", (row) => get(row, "data"), (row) => get(row, "data")],
    ...(lined ? [index] : []),
    ["Scope", scope, scope],
    ["Why unknown, notes", why, why, "why"],
    ["Engine", (row) => get(row, "engine"), (row) => get(row, "engine")],
    ["Time", (row) => seconds(row[place.seconds]), (row) => row[place.seconds], "n"],
    ["Certificate", (row) => get(row, "certificate"), (row) => get(row, "certificate")],
  ].filter(([heading, said]) => heading === "Input" || data.rows.some((row) => (said(row) ?? "") !== ""));

  const form = $("filters"), table = $("table"), body = table.tBodies[0];
  const kinds = ["question", "model", "epsilon", "status", "label", "change"];
  // what a row has of a kind: one value, none, or several changes
  const values = (row, kind) => {
    if (kind === "change") return changes(row);
    const value = get(row, kind);
    return value === null ? [] : [String(value)];
  };
  // the gallery of changes and that of reasons; ids of the second begin with its prefix
  const FIRST = 24;
  const galleries = [["#changes", ""], ["#explanations", "reason-"]].map(([section, prefix]) => ({
    prefix,
    room: FIRST,
    entries: [...document.querySelectorAll(`${section} .entry`)].map((element) => ({
      element,
      rows: element.dataset.rows.split(" ").map(Number),
      text: element.textContent.toLowerCase(),
    })),
  }));
  const PRINTED = 2000, CHANGES = 3, CHOICES = 200;
  let page = 0, sort = { column: null, down: false }, order = [];
  const haystacks = new Map();
  const haystack = (i) => {
    if (!haystacks.has(i)) {
      const row = data.rows[i];
      haystacks.set(i, columns.map(([, said]) => said(row) ?? "").join(" ").toLowerCase());
    }
    return haystacks.get(i);
  };

  function fillChoices() {
    for (const kind of kinds) {
      const counts = new Map();
      for (const row of data.rows) {
        for (const value of new Set(values(row, kind))) counts.set(value, (counts.get(value) ?? 0) + 1);
      }
      const select = form.elements[kind];
      select.append(new Option("all", ""));
      // of very many, only the most frequent can be chosen; the search finds the others
      const frequent = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a)).slice(0, CHOICES);
      // "=" keeps a class that is called "" apart from "all"
      for (const value of frequent.sort(collator.compare)) {
        select.append(new Option(`${value} (${counts.get(value)})`, `=${value}`));
      }
      select.closest("label").hidden = counts.size === 0;
    }
  }

  function matching() {
    const wanted = kinds.map((kind) => [kind, form.elements[kind].value]).filter(([, value]) => value);
    const words = form.elements.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (row, kind, value) => values(row, kind).some((own) => `=${own}` === value);
    const kept = data.rows.map((row) => wanted.every(([kind, value]) => has(row, kind, value)));
    const found = [];
    kept.forEach((keep, i) => {
      if (keep && words.every((word) => haystack(i).includes(word))) found.push(i);
    });
    return { kept, found, words };
  }

  function sorted(found) {
    if (sort.column === null) return found;
    const key = columns[sort.column][2], sign = sort.down ? -1 : 1;
    const keyed = found.map((i) => [key(data.rows[i]), i]);
    const missing = (value) => value === null || value === "";
    keyed.sort(([a, i], [b, j]) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b) || i - j;
      const numbers = typeof a === "number" && typeof b === "number";
      const difference = numbers ? (a < b ? -1 : a > b ? 1 : 0) : collator.compare(a, b);
      return sign * difference || i - j;
    });
    return keyed.map(([, i]) => i);
  }

  function update() {
    const { kept, found, words } = matching();
    order = sorted(found);
    page = 0;
    const n = data.rows.length;
    $("count").textContent = found.length === n ? `All ${n} answers.` : `${found.length} of ${n} answers.`;
    const direct = new Set(found);
    for (const entry of galleries.flatMap((gallery) => gallery.entries)) {
      // an entry's own text (its words) can be searched, too
      const said = words.length > 0 && words.every((word) => entry.text.includes(word));
      entry.fits = entry.rows.some((i) => direct.has(i) || (said && kept[i]));
    }
    for (const gallery of galleries) {
      gallery.room = FIRST;
      drawGallery(gallery);
    }
    drawTable();
  }

  function drawGallery({ entries, room, prefix }) {
    const fitting = entries.filter((entry) => entry.fits);
    const visible = new Set(fitting.slice(0, room));
    for (const entry of entries) entry.element.hidden = !visible.has(entry);
    if (!entries.length) return;
    $(`${prefix}shown`).textContent = visible.size;
    $(`${prefix}nothing`).hidden = fitting.length > 0;
    $(`${prefix}more`).hidden = fitting.length <= room;
    $(`${prefix}more`).textContent = `Show ${Math.min(FIRST, fitting.length - room)} more of ${fitting.length}`;
  }

  function drawTable(all = false) {
    const length = all ? PRINTED : Number($("size").value);
    const pages = Math.max(Math.ceil(order.length / length), 1);
    page = Math.min(Math.max(page, 0), pages - 1);
    const start = all ? 0 : page * length;
    body.replaceChildren(...order.slice(start, start + length).map((i) => drawn(data.rows[i])));
    if (!order.length) {
      const cell = make("td", data.rows.length ? "No answer fits the filters." : "No tasks are planned.");
      cell.colSpan = columns.length;
      body.replaceChildren(make("tr"));
      body.firstChild.append(cell);
    }
    $("page").textContent = order.length
      ? `${start + 1}–${Math.min(start + length, order.length)} of ${order.length}` : "none";
    const [back, on] = document.querySelectorAll("[data-go]");
    back.disabled = page === 0;
    on.disabled = page === pages - 1;
    $("cut").hidden = !(all && order.length > PRINTED);
    $("cut").textContent = `The first ${PRINTED} of ${order.length} answers are printed.`;
  }

  function drawn(row) {
    const tr = make("tr");
    for (const [, said, , kind] of columns) {
      const cell = make("td", undefined, kind === "is-status" ? "" : kind);
      if (kind === "is-status") cell.append(make("span", said(row), `status ${said(row)}`));
      else if (kind === "change") cell.append(...changed(changes(row)));
      else cell.append(make("bdi", said(row)));
      tr.append(cell);
    }
    return tr;
  }

  // The first few changes; if there are more, a click opens the rest, and a mouse shows them all.
  function changed(all) {
    const list = (items) => items.flatMap((item, i) => {
      const whole = make("span", undefined, "item");
      whole.append(make("bdi", item), i < items.length - 1 ? "," : "");
      return [i ? " " : "", whole];
    });
    if (all.length <= CHANGES + 1) return list(all);
    const box = make("details"), short = make("summary"), others = make("div");
    short.title = all.join("\n");
    short.append(...list(all.slice(0, CHANGES)), make("span", ` and ${all.length - CHANGES} more`, "rest"));
    others.append(...list(all.slice(CHANGES)));
    box.append(short, others);
    return [box];
  }

  function drawHeadings() {
    columns.forEach(([heading, , , kind], i) => {
      const th = make("th", undefined, kind === "n" ? "n" : "");
      th.scope = "col";
      th.setAttribute("aria-sort", "none");
      const button = make("button", heading);
      button.type = "button";
      button.addEventListener("click", () => sortBy(i));
      // a heading with a button is not repeated on every sheet of paper, one of plain text is
      th.append(button, make("span", heading, "printed"));
      table.tHead.rows[0].append(th);
    });
  }

  function sortBy(column) {
    sort = { column, down: sort.column === column && !sort.down };
    [...table.tHead.rows[0].cells].forEach((th, i) => {
      th.setAttribute("aria-sort", i !== column ? "none" : sort.down ? "descending" : "ascending");
    });
    order = sorted(order);
    page = 0;
    drawTable();
  }

  // Above a table that is wider than its box it is said how to see the rest.
  const widths = new ResizeObserver((boxes) => {
    for (const { target } of boxes) {
      const box = target.closest(".scroll");
      box.previousElementSibling.hidden = box.scrollWidth <= box.clientWidth;
    }
  });
  for (const box of document.querySelectorAll(".scroll, .scroll > table")) widths.observe(box);

  fillChoices();
  drawHeadings();
  for (const element of [form, table, $("pages")]) element.hidden = false;
  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(update, data.rows.length > 5000 ? 150 : 0);
  });
  form.addEventListener("reset", () => setTimeout(update));
  form.addEventListener("submit", (event) => event.preventDefault());
  $("size").addEventListener("change", () => { page = 0; drawTable(); });
  for (const button of document.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => { page += Number(button.dataset.go); drawTable(); });
  }
  for (const gallery of galleries) {
    $(`${gallery.prefix}more`)?.addEventListener("click", () => {
      gallery.room += FIRST;
      drawGallery(gallery);
    });
  }
  addEventListener("beforeprint", () => drawTable(true));
  addEventListener("afterprint", () => drawTable());
  update();
})();
