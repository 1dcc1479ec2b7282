// The page shows its tables and charts without this; with it they sort and filter, and a figure opens its row.
"use strict";
const root = document.documentElement;
root.classList.add("js");

// Light and dark: the system's choice until the button is pressed; nothing is stored.
const dark = matchMedia("(prefers-color-scheme: dark)");
document.getElementById("theme").addEventListener("click", () => {
  const now = root.dataset.theme || (dark.matches ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
});

// Sorting: by data-v where a cell has it, by its text elsewhere; what has no figure stays at the end.
const words = new Intl.Collator("en", { numeric: true });
function sort(th) {
  const column = th.cellIndex, body = th.closest("table").tBodies[0];
  const up = th.getAttribute("aria-sort") !== "ascending";
  for (const other of th.parentElement.cells) other.removeAttribute("aria-sort");
  th.setAttribute("aria-sort", up ? "ascending" : "descending");
  const keys = new Map([...body.rows].map(row => {
    const cell = row.cells[column], v = cell.dataset.v;
    return [row, v === undefined ? cell.textContent : v === "" ? null : +v];
  }));
  const compare = (a, b) => {
    const x = keys.get(a), y = keys.get(b);
    if (x === null || y === null) return (x === null) - (y === null);
    const order = typeof x === "number" && typeof y === "number" ? x - y : words.compare(x, y);
    return up ? order : -order;
  };
  body.append(...[...body.rows].sort(compare));
}
document.addEventListener("click", event => {
  const button = event.target.closest("th button");
  if (button) sort(button.parentElement);
});

// Filtering: every word has to be in the row.
for (const input of document.querySelectorAll(".filter input")) {
  const body = document.getElementById(input.dataset.of).querySelector("tbody");
  const told = input.parentElement.querySelector("output");
  const texts = [...body.rows].map(row => [row, row.textContent.toLowerCase()]);
  input.addEventListener("input", () => {
    const asked = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [row, text] of texts) {
      row.hidden = !asked.every(word => text.includes(word));
      shown += !row.hidden;
    }
    told.textContent = asked.length ? `${shown} of ${texts.length}` : "";
  });
}

// A row's details. Whatever is shown is set as text.
let rows = null;
function stored() {
  return rows || (rows = JSON.parse(document.getElementById("rows").textContent));
}
function make(tag, text, className) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}
function shown(value, unit) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number" && unit === "s" && value > 0) {
    const [scale, name] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([s]) => value >= s) || [1e-9, "ns"];
    return `${+(value / scale).toPrecision(5)} ${name}`;
  }
  return typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value)
    : String(value) + (unit && unit !== "1" ? ` ${unit}` : "");
}
function facts(value) {
  const dl = make("dl", undefined, "facts"), unit = typeof value.unit === "string" ? value.unit : "";
  for (const [name, x] of Object.entries(value)) {
    if (name === "unit" && unit) continue;
    dl.append(make("dt", name.replaceAll("_", " ")));
    const dd = make("dd");
    if (x && typeof x === "object" && !Array.isArray(x)) {
      const parts = Object.keys(x);
      if ("value" in x && parts.every(k => ["value", "unit", "cache", "cold"].includes(k)))
        dd.textContent = shown(x.value, x.unit) + (x.cache ? `, ${x.cache}` : "") + ("cold" in x ? ` (cold: ${shown(x.cold)})` : "");
      else dd.append(facts(x));
    } else if (typeof x === "string" && x.includes("\n")) dd.append(make("pre", x));
    else if (Array.isArray(x)) dd.textContent = x.map(v => shown(v, unit)).join(", ") || "–";
    else dd.textContent = shown(x, ["n", "n_mismatched"].includes(name) ? "" : unit);
    dl.append(dd);
  }
  return dl;
}
const dialog = document.getElementById("row");
let opener = null;
function open(number, from) {
  const { rows: all, parts } = stored(), row = all[number];
  if (!row) return;
  const part = x => x && x.of !== undefined ? parts[x.of] : x;
  const each = x => Object.fromEntries(Object.entries(x || {}).map(([k, v]) => [k, part(v)]));
  dialog.querySelector("h2").textContent = `${row.baseline} in ${row.case}`;
  const body = dialog.querySelector(".body");
  body.replaceChildren();
  const { verdict, where, metrics, fidelity, ratio, failure_detail, provenance, ...what } = row;
  const said = make("p");
  const [kind, glyph, word] = part(verdict);
  said.append(make("span", `${glyph} ${word}`, `w ${kind}`));
  body.append(said);
  const groups = [["What ran", { ...what, stored_in: `${part(where[0])[0]}, ${where[1]}` }],
    ["Why it failed", failure_detail], ["Ratio", ratio], ["Figures", metrics], ["Correctness", each(fidelity)],
    ["Provenance", { ...provenance[0], ...each(part(provenance[1])) }]];
  for (const [title, value] of groups)
    if (value && Object.keys(value).length) body.append(make("h3", title), facts(value));
  opener = from || document.activeElement;
  if (!dialog.open) dialog.showModal();
  body.scrollTop = 0;
}
dialog.addEventListener("close", () => { if (opener && opener.isConnected) opener.focus(); });
dialog.addEventListener("click", event => {
  if (event.target === dialog || event.target.closest("button")) dialog.close();
});
document.addEventListener("click", event => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  if (event.target.closest("button, input, summary") || dialog.contains(event.target)) return;
  const at = event.target.closest("[data-r]");
  if (!at || (at.matches("tr") && String(getSelection()))) return;
  event.preventDefault();
  open(+at.dataset.r, at.matches("a") ? at : at.querySelector("a[data-r]") || null);
});

// What is closed opens where a link leads into it, and for paper.
function reveal() {
  const at = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (!at) return;
  for (let e = at.closest("details"); e; e = e.parentElement.closest("details")) e.open = true;
  at.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(e => { e.open = true; }));
