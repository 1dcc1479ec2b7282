// The page of a run: one selection of parts, which every figure and the table follow.
const read = id => JSON.parse(document.getElementById(id).textContent);
const { wall, fields, rows, texts, blocks, bars, colors } = read("run"), figures = read("figures");
const $ = id => document.getElementById(id), all = (css, e = document) => [...e.querySelectorAll(css)];
const table = document.querySelector("#operations table"), body = table.tBodies[0];
const columns = all("thead th", table), named = body.querySelector("th")?.cellIndex;
const parts = rows.map(values => Object.fromEntries(fields.map((name, n) => [name, values[n]])));
const groups = [];
parts.forEach((p, i) => {
  for (const name of ["phase", "limited", "why"]) p[name] = texts[p[name]];
  p.cells = p.cells.map(n => texts[n]);
  p.lost = p.floor === null ? null : p.time - p.floor;
  p.find = [p.name, p.phase, ...p.cells].join(" ").toLowerCase();
  (groups[p.group] ??= []).push(i);
});
blocks.toReversed().forEach(b => b.parent !== null && blocks[b.parent].parts.push(...b.parts));
blocks.forEach(b => b.name ??= parts[b.parts[0]].name);

const seconds = s => {
  for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]])
    if (Math.abs(s) >= 0.9995 * size) return `${+(s / size).toPrecision(3)} ${unit}`;
  return "0 s";
};
const percent = x => `${x >= 10 || x < 0 ? x.toFixed(0) : +x.toPrecision(2)} %`;
const add = (list, what) => list.reduce((sum, i) => sum + (parts[i][what] ?? 0), 0);

// Selection

let chosen = null; // { list, set, label, from }

function sentence({ list, label }) {
  if (list.length === 1) return `${parts[list[0]].name}: ${parts[list[0]].why}`;
  if (!list.length) return `${label}: no operation.`;
  const time = add(list, "time"), known = list.filter(i => parts[i].lost !== null);
  let text = `${label}: ${list.length} parts, ${seconds(time)}, ${percent(100 * time / wall)} of the time`;
  const took = add(known, "time"), floor = add(known, "floor");
  if (took) text += `; ${seconds(add(known, "lost"))} lost, ${percent(100 * floor / took)} of the roofline`;
  const by = {};
  list.forEach(i => by[parts[i].limited] = (by[parts[i].limited] ?? 0) + parts[i].time);
  const most = Object.keys(by).sort((a, b) => by[b] - by[a])[0];
  return `${text}; ${by[most] < 0.9 * time ? "mostly " : ""}limited by ${most}.`;
}

function select(list, label, from) {
  const same = chosen && from === chosen.from && from !== "search" && from !== "keys" && label === chosen.label
    && list.length === chosen.list.length && list.every(i => chosen.set.has(i));
  chosen = same || !list ? null : { list, set: new Set(list), label, from };
  if (from !== "search" && chosen) $("search").value = "";
  follow();
}

function clear() {
  chosen = null;
  $("search").value = "";
  follow();
}

function follow() {
  const status = $("selection");
  status.textContent = chosen ? sentence(chosen) : status.dataset.empty;
  status.classList.toggle("on", !!chosen);
  $("clear").hidden = !chosen;
  followTable();
  if (drawn) {
    followRoofline();
    followWaterfall();
    followIcicle();
  }
}

// The table: groups, which open to their parts

// A narrow page lays rows out as a grid, which stays a table for people who do not see it
const ROLES = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };
function roles(e) {
  e.role = e.tagName === "TH" ? (e.scope === "col" ? "columnheader" : "rowheader") : ROLES[e.tagName];
  if (e.cellIndex === named) e.dataset.k = "";
  if (e.cellIndex > named && !e.classList.contains("d")) e.dataset.s = "";
}
[table, ...all("thead, tbody, tr, th, td", table)].forEach(roles);

const row = g => body.querySelector(`tr[data-g="${g}"]`);
const subs = g => all(`tr[data-of="${g}"]`, body);
let onlyFirst = groups.length > 40;

function followTable() {
  const filters = chosen && chosen.from !== "table";
  let shown = 0, n = 0;
  all("tr[data-g]", body).forEach(tr => {
    const list = groups[tr.dataset.g], any = chosen && list.some(i => chosen.set.has(i));
    const hit = !filters || any;
    tr.hidden = !hit || !filters && onlyFirst && n++ >= 25;
    shown += !tr.hidden;
    tr.classList.toggle("on", !!any && list.every(i => chosen.set.has(i)));
  });
  all("tr[data-of]", body).forEach(tr => {
    const i = +tr.dataset.p, hit = chosen?.set.has(i);
    tr.hidden = row(tr.dataset.of).hidden || filters && !hit;
    tr.classList.toggle("on", !!hit && tr.classList.contains("part") && groups[tr.dataset.of].length > 1);
  });
  $("count").textContent = shown < groups.length
    ? `${shown} of ${groups.length} groups` : `${groups.length} groups of ${parts.length} parts`;
  $("rest").hidden = !onlyFirst || !!filters;
  $("rest").textContent = `Show all ${groups.length} groups`;
}

function cell(tag, column, text) {
  const e = document.createElement(tag);
  e.className = column.className;
  e.textContent = text;
  return e;
}

function subRow(g, i) {
  const tr = document.createElement("tr");
  Object.assign(tr.dataset, { of: g, p: i });
  tr.className = "part";
  columns.forEach((column, c) => {
    const e = cell(c === named ? "th" : "td", column, c === named ? "" : parts[i].cells[c]);
    if (c === named) {
      e.scope = "row";
      e.append(Object.assign(document.createElement("button"), { type: "button", textContent: parts[i].name }));
    } else if (colors[parts[i].cells[c]]) {
      const dot = Object.assign(document.createElement("span"), { className: "dot", textContent: e.textContent });
      dot.style.setProperty("--dot", colors[e.textContent]);
      e.replaceChildren(dot);
    }
    tr.append(e);
    roles(e);
  });
  tr.role = "row";
  return tr;
}

function whyRow(g, i) {
  const tr = document.createElement("tr"), td = document.createElement("td");
  Object.assign(tr.dataset, { of: g, p: i });
  tr.className = "why";
  td.colSpan = columns.length;
  td.textContent = parts[i].why;
  tr.append(td);
  tr.role = "row";
  td.role = "cell";
  return tr;
}

function fold(tr) {
  const g = tr.dataset.g, button = tr.querySelector(".fold"), open = button.ariaExpanded !== "true";
  button.ariaExpanded = open;
  subs(g).forEach(e => e.remove());
  if (!open) return;
  const list = groups[g].toSorted((a, b) => (parts[b].lost ?? parts[b].time) - (parts[a].lost ?? parts[a].time));
  tr.after(...list.length > 1 ? list.map(i => subRow(g, i)) : [whyRow(g, list[0])]);
  followTable();
}

function sortBy(th) {
  const c = th.cellIndex, down = th.ariaSort !== "descending";
  columns.forEach(h => h.ariaSort = h === th ? (down ? "descending" : "ascending") : null);
  const key = tr => {
    const v = tr.cells[c].dataset.v;
    return v === undefined ? tr.cells[c].textContent : v === "" ? -Infinity : +v;
  };
  const rows = all("tr[data-g]", body).map(tr => [key(tr), tr]);
  rows.sort(([a], [b]) => (a > b ? 1 : a < b ? -1 : 0) * (down ? -1 : 1));
  rows.forEach(([, tr]) => body.append(tr, ...subs(tr.dataset.g)));
  followTable();
}

table.tHead.addEventListener("click", e => e.target.closest("button") && sortBy(e.target.closest("th")));
body.addEventListener("click", e => {
  const tr = e.target.closest("tr");
  if (!tr || getSelection().toString()) return;
  if (e.target.closest(".fold")) return fold(tr);
  if (tr.dataset.p) return select([+tr.dataset.p], parts[tr.dataset.p].name, "table");
  select(groups[tr.dataset.g], tr.dataset.name, "table");
});
$("details").addEventListener("change", e => $("operations").classList.toggle("all", e.target.checked));
$("rest").addEventListener("click", () => { onlyFirst = false; followTable(); });

// Search and keys

$("search").addEventListener("input", e => {
  const words = e.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return select(null, "", "search");
  const found = [];
  parts.forEach((p, i) => words.every(w => p.find.includes(w)) && found.push(i));
  select(found, `“${e.target.value.trim()}”`, "search");
});
$("clear").addEventListener("click", () => { clear(); $("search").focus(); });
document.addEventListener("keydown", e => e.key === "Escape" && clear());

// Figures

let drawn = false;
const escaped = text => text.replace(/[&<>]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
const wrapped = text => escaped(text).replace(/(.{44,70}?) /g, "$1<br>");
const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };

function tip(i) {
  const p = parts[i], lost = p.lost === null ? "floor unknown" : `${seconds(p.lost)} lost`;
  const name = p.name.length > 70 ? `…${p.name.slice(-70)}` : p.name;
  return `<b>${escaped(name)}</b>${p.phase === "forward" ? "" : ", " + escaped(p.phase)}<br>`
    + `${seconds(p.time)}, ${lost}<br>${wrapped(p.why)}`;
}

function drawRoofline() {
  const { data, layout } = figures.roofline;
  data.forEach(t => {
    if (!t.customdata) return;
    t.hovertext = t.customdata.map(tip);
    t.unselected = { marker: { opacity: 0.07 } };
    t.selected = { marker: { opacity: 0.95 } };
  });
  if (matchMedia("(pointer: coarse)").matches || innerWidth < 760) layout.dragmode = false;
  const [low, high] = layout.xaxis.range;
  Object.assign(layout.xaxis, { tickangle: 0, dtick: Math.ceil((high - low) / (innerWidth < 760 ? 6 : 9)) });
  if (innerWidth < 760)
    data.forEach(t => t.text && Object.assign(t, {
      textfont: { size: 10 },
      text: t.text.map(x => x.replace(/ \(.*?\)/, "")),
    }));
  Plotly.newPlot("roofline", data, layout, config);
  $("roofline").on("plotly_click", e => {
    const i = e.points[0]?.customdata;
    if (i !== undefined) select([i], parts[i].name, "roofline");
  });
}

const lines = figures.roofline.data.flatMap((t, n) => t.meta ? [n] : []);
const marks = figures.roofline.data.flatMap((t, n) => t.customdata ? [n] : []);
const looks = lines.map(n => ({ ...figures.roofline.data[n].line }));

function followRoofline() {
  const data = figures.roofline.data, weight = {};
  let total = 0;
  chosen?.list.forEach(i => {
    weight[parts[i].line] = (weight[parts[i].line] ?? 0) + parts[i].time;
    total += parts[i].time;
  });
  const strong = lines.map(n => weight[n] > 0.1 * total);
  const color = n => data[n].meta.unit === "B/s" ? colors.memory : colors.compute;
  const none = marks.map(() => null);
  Plotly.restyle("roofline", {
    "line.width": [...lines.map((n, k) => strong[k] ? 4 : looks[k].width), ...none],
    "line.color": [...lines.map((n, k) => strong[k] ? color(n) : looks[k].color), ...none],
    selectedpoints: [...lines.map(() => null), ...marks.map(n => chosen
      ? data[n].customdata.flatMap((i, k) => chosen.set.has(i) ? [k] : []) : null)],
  }, [...lines, ...marks]);
}

const kind = () => document.querySelector("input[name=by]:checked")?.value ?? "cause";

function drawWaterfall() {
  if (!$("waterfall")) return;
  const { data: [bar], layout } = figures[kind()];
  const over = { ...structuredClone(bar), x: bar.x.map(() => 0), text: null, hoverinfo: "skip", hovertemplate: null };
  if (innerWidth < 760) layout.xaxis.nticks = 3;
  if (innerWidth >= 760) layout.height = Math.max(layout.height, figures.roofline.layout.height - 50);
  Plotly.react("waterfall", [bar, over], { ...layout, barmode: "overlay" }, { ...config, displayModeBar: false });
}

function followWaterfall() {
  if (!$("waterfall")) return;
  const steps = bars[kind()], sums = steps.map(({ parts: list, what }) =>
    chosen && what ? add(list.filter(i => chosen.set.has(i)), what) : 0);
  Plotly.restyle("waterfall", { x: [sums], "marker.opacity": chosen ? [1] : [0] }, [1]);
  Plotly.restyle("waterfall", { "marker.opacity": chosen ? 0.28 : 1 }, [0]);
}

function chooseBar(n) {
  const step = bars[kind()][n];
  if (step.whole) clear();
  else if (step.click) select(step.parts, step.name, "waterfall");
}

function blockTip({ name, parts: list }, n) {
  const known = list.filter(i => parts[i].floor !== null), took = add(known, "time");
  const time = n ? add(list, "time") : wall;
  const count = list.length > 1 ? `${list.length} parts, ` : "";
  const share = 2 * took >= time && took ? `${percent(100 * add(known, "floor") / took)} of the roofline` : "floor unknown";
  return `<b>${escaped(name)}</b><br>${count}${seconds(time)}, ${share}`;
}

function followIcicle() {
  all("#icicle .slice").forEach(e => {
    const list = blocks[e.__data__?.data?.data?.id]?.parts ?? [];
    const n = chosen ? list.filter(i => chosen.set.has(i)).length : 0;
    e.classList.toggle("none", !!chosen && !n);
    e.classList.toggle("some", !!chosen && n > 0 && n < list.length);
  });
}

function chooseBlock(n) {
  if (!blocks[n]) return;
  if (n === 0) clear();
  else if (blocks[n].parts.length) select(blocks[n].parts, blocks[n].name, "icicle");
}

function drawIcicle() {
  const { data, layout } = figures.icicle;
  data[0].hovertext = blocks.map(blockTip);
  Plotly.newPlot("icicle", data, layout, { ...config, displayModeBar: false });
  $("icicle").on("plotly_icicleclick", e => {
    chooseBlock(+e.points[0].id);
    return false; // no zoom
  });
  $("icicle").on("plotly_afterplot", followIcicle);
}

// Keys in a figure move the selection: along its points, bars or blocks
const at = { roofline: -1, waterfall: -1, icicle: -1 };
const order = figures.roofline.data.flatMap(t => (t.customdata ?? []).map((i, k) => [t.x[k], i]))
  .sort(([a], [b]) => a - b).map(([, i]) => i);
const moves = {
  roofline(step) {
    at.roofline = (at.roofline + step + order.length) % order.length;
    const i = order[at.roofline];
    if (i !== undefined) select([i], parts[i].name, "keys");
  },
  waterfall(step) {
    const steps = bars[kind()], can = steps.map((s, n) => n).filter(n => steps[n].click);
    at.waterfall = (at.waterfall + step + can.length) % can.length;
    if (can.length) select(steps[can[at.waterfall]].parts, steps[can[at.waterfall]].name, "keys");
  },
  icicle(step, inwards) {
    const here = blocks[at.icicle], children = n => blocks.flatMap((b, k) => b.parent === n ? [k] : []);
    let next = at.icicle;
    if (!here) next = children(0)[0];
    else if (inwards) next = step > 0 ? children(at.icicle)[0] ?? at.icicle : here.parent || at.icicle;
    else {
      const row = children(here.parent);
      next = row[(row.indexOf(at.icicle) + step + row.length) % row.length];
    }
    if (next === undefined) return;
    at.icicle = next;
    select(blocks[next].parts, blocks[next].name, "keys");
  },
};
const STEPS = { ArrowRight: [1, false], ArrowDown: [1, true], ArrowLeft: [-1, false], ArrowUp: [-1, true] };
all(".plot").forEach(e => e.addEventListener("keydown", event => {
  const step = STEPS[event.key];
  if (!step || !drawn) return;
  event.preventDefault();
  moves[e.id](...step);
}));

function draw() {
  drawRoofline();
  drawWaterfall();
  $("waterfall")?.on("plotly_click", e => chooseBar(e.points[0].customdata));
  drawIcicle();
  drawn = true;
  all("input[name=by]").forEach(e => e.addEventListener("change", () => {
    if (chosen?.from === "waterfall") clear();
    at.waterfall = -1;
    drawWaterfall();
    followWaterfall();
  }));
  if (chosen) follow();
  document.documentElement.dataset.ready = Math.round(performance.now());
}

addEventListener("beforeprint", () => {
  all("details").forEach(e => e.open = true);
  onlyFirst = false;
  followTable();
  all(".js-plotly-plot").forEach(e => Plotly.relayout(e, { autosize: false, width: 690 }));
});
addEventListener("afterprint", () =>
  all(".js-plotly-plot").forEach(e => Plotly.relayout(e, { autosize: true, width: null })));

follow();
addEventListener("DOMContentLoaded", () => requestAnimationFrame(() => setTimeout(draw)));
