// What a page does by itself: light and dark, menus, the search, figures, copying code.
const up = document.currentScript.dataset.up, root = document.documentElement;
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const one = selector => document.querySelector(selector);
const narrow = () => innerWidth < 700;

// Pictures that have a dark version follow the toggle, too.
const dark = all("source[media*=dark]");
const pictures = () => dark.forEach(source => {
  if (root.dataset.theme) source.media = root.dataset.theme === "dark" ? "all" : "not all";
});
one(".theme").onclick = () => {
  const now = root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme) } catch {}
  pictures();
};
pictures();

one(".open-menu").onclick = e => {
  const open = one("#menu").classList.toggle("open");
  e.currentTarget.ariaExpanded = open;
};
const shut = keep => all("#menu details[open]").forEach(d => { if (!d.contains(keep)) d.open = false });
addEventListener("click", e => { shut(e.target); if (!one(".search").contains(e.target)) results.hidden = true });
addEventListener("keydown", e => {
  if (e.key === "Escape") { shut(); results.hidden = true }
  if (e.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) { e.preventDefault(); box.focus() }
});

// The search: sections that hold every word, at the beginning of a word of theirs; where none holds
// all, those that hold most. Words in a heading count most, and pages to learn from come before the
// pages of modules.
const box = one(".search input"), results = one(".search ul");
box.onfocus = () => {
  if (!one("script[data-search]")) {
    const script = document.createElement("script");
    script.src = up + "search.js"; script.dataset.search = ""; script.onload = () => box.value && find();
    document.head.append(script);
  }
};
// words of a question that say nothing about its subject; "memory-bound" is two words, "--most-foreign" one
const SMALL = new Set("a about an and any are as at be by can do does for from have how i if in is it mean meaning means my not of on or say says should that the there this to use want was what when where which why will with you".split(" "));
const wordsOf = text => {
  const words = text.toLowerCase().replace(/(?<=\p{L})-(?=\p{L})/gu, (_, at, all) => /(^|\s)-\S*$/.test(all.slice(0, at)) ? "-" : " ").split(/[^\p{L}\p{N}_.%:-]+/u).filter(Boolean), large = words.filter(w => !SMALL.has(w));
  return large.length ? large : words;
};
const starts = word => new RegExp("(?<![\\p{L}\\p{N}])" + word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "giu");
const count = (text, pattern) => (text.match(pattern) || []).length;
// the words of a section around the first match, marked
const excerpt = (text, words) => {
  const from = Math.max(0, Math.min(...words.map(w => text.toLowerCase().indexOf(w)).filter(i => i >= 0)) - 40);
  const shown = (from ? "…" : "") + text.slice(from, from + 160) + (from + 160 < text.length ? "…" : "");
  const line = document.createElement("span"), low = shown.toLowerCase();
  for (let at = 0; at < shown.length;) {
    const hits = words.map(w => [low.indexOf(w, at), w.length]).filter(h => h[0] >= 0).sort((x, y) => x[0] - y[0]);
    if (!hits.length || low.length !== shown.length) { line.append(shown.slice(at)); break }
    const [[start, length]] = hits, mark = document.createElement("mark");
    mark.textContent = shown.slice(start, start + length);
    line.append(shown.slice(at, start), mark); at = start + length;
  }
  return line;
};
const find = () => {
  const words = wordsOf(box.value), patterns = words.map(starts), typed = box.value.trim().toLowerCase();
  const score = ([title, url, where, text]) => {
    let held = 0, points = 0;
    for (const p of patterns) {
      const heads = count(title, p), pages = count(where, p), times = count(text, p);
      held += !!(heads || pages || times);
      points += 20 * !!heads + 4 * !!pages + Math.min(6, times);
    }
    const lesson = !url.startsWith("analysis/") && !url.startsWith("changelog");
    // a name of the API comes first only if it is typed as one
    const named = title.toLowerCase() === typed && (lesson || /[_.A-Z]/.test(box.value.trim()));
    // the definition of a term with capitals, such as AMBIGUOUS, comes first whatever else is asked of it
    const defined = url.startsWith("glossary.html#") && /[A-Z]/.test(title) && ` ${box.value.trim().replace(/[?.,]/g, "")} `.includes(` ${title} `);
    return [defined ? words.length : held, points * (lesson ? 1.5 : 1) + 1e3 * (named || defined) + 5 * !url.includes("#") - title.length / 100];
  };
  const scored = !words.length ? [] : (window.searchIndex || []).map(row => [score(row), row]).filter(([[held]]) => held);
  const most = Math.max(...scored.map(([[held]]) => held), 0);
  const found = scored.filter(([[held]]) => held === most).sort((a, b) => b[0][1] - a[0][1]).slice(0, 30);
  results.replaceChildren(...found.map(([, [title, url, where, text]]) => {
    const item = document.createElement("li"), link = document.createElement("a"), about = document.createElement("small");
    link.href = up + url; link.textContent = title; about.textContent = where; link.append(about);
    if (words.some(w => text.toLowerCase().includes(w))) { const p = document.createElement("small"); p.className = "excerpt"; p.append(excerpt(text, words)); link.append(p) }
    item.append(link);
    return item;
  }));
  if (most && most < words.length) {
    const note = document.createElement("li"); note.textContent = `No section has all ${words.length} words; these have ${most}.`; results.prepend(note);
  }
  if (!found.length) results.innerHTML = window.searchIndex ? "<li>No section has any of these words.</li>" : "<li>Loading…</li>";
  results.hidden = !words.length;
};
box.oninput = find;
one(".search").onkeydown = e => {
  const links = all("a", results), i = links.indexOf(document.activeElement);
  if (e.key === "Enter" && i < 0 && links.length) location.href = links[0].href;
  const next = { ArrowDown: i + 1, ArrowUp: i - 1 }[e.key];
  if (next !== undefined) { e.preventDefault(); (links[next] || box).focus() }
};

// The sidebar: the current page in sight, and a filter of the names.
const side = one(".sidebar"), current = one(".sidebar [aria-current]"), filter = one(".filter");
if (current) side.scrollTop = current.getBoundingClientRect().top - side.getBoundingClientRect().top - side.clientHeight / 3;
if (filter) filter.oninput = () => {
  const wanted = filter.value.toLowerCase();
  all("li", side).forEach(li => { li.hidden = !(li.textContent + li.firstChild.title).toLowerCase().includes(wanted) });
  all("details", side).forEach(d => { d.open = wanted ? all("li:not([hidden])", d).length : d.contains(current) });
};

// The heading that is being read, in the page's own contents.
const headings = all(".contents a").map(a => [a, document.getElementById(decodeURIComponent(a.hash.slice(1)))]);
const mark = () => {
  let now = headings[0];
  for (const h of headings) if (h[1] && h[1].getBoundingClientRect().top < 120) now = h;
  for (const h of headings) h[0].classList.toggle("current", h === now);
};
if (headings.length) { addEventListener("scroll", mark, { passive: true }); mark() }

all("div.sourceCode, main pre:not(.text, .sourceCode)").forEach(block => {
  const around = document.createElement("div"), button = document.createElement("button");
  around.className = "code-box"; button.className = "copy"; button.textContent = "Copy";
  button.onclick = () => navigator.clipboard.writeText(block.innerText.trimEnd())
    .then(() => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy" }, 1500) });
  block.replaceWith(around); around.append(block, button);
});

// Figures: the text takes the page's colour by the style sheet, and a narrow window smaller margins.
all(".plot").forEach(plot => {
  const { data, layout } = JSON.parse(plot.firstElementChild.textContent);
  const small = narrow(), margin = { ...layout.margin, ...(small && { l: 55, r: 12 }) };
  const title = layout.title?.text || "", room = plot.clientWidth - (margin.l ?? 80) - 10;
  Object.assign(layout, {
    margin, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { ...layout.font, ...(small && { size: 11 }) },
    title: { ...layout.title, font: { size: Math.max(11, Math.min(small ? 14 : 17, 1.85 * room / (title.length || 1))) } },
    ...(small && { dragmode: false }),  // a finger scrolls the page
  });
  if (small && layout.legend?.orientation !== "h")
    layout.legend = { ...layout.legend, orientation: "h", x: 0, xanchor: "left", y: -0.28, yanchor: "top" };
  const lines = "rgba(122,133,148,0.3)";  // to be seen on light and on dark
  for (const key of ["xaxis", "yaxis", ...Object.keys(layout).filter(key => /^[xy]axis\d/.test(key))])
    layout[key] = { gridcolor: lines, zerolinecolor: lines, linecolor: lines, ...layout[key] };
  for (const trace of data) if (/text/.test(trace.mode)) trace.cliponaxis = false;
  Plotly.newPlot(plot, data, layout, { responsive: true, displaylogo: false });
});
