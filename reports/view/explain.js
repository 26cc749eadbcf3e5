"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const { pieces, words, columns } = data, n = pieces.length;
const $ = (id) => document.getElementById(id);
const make = (tag, text = "", more = {}) => Object.assign(document.createElement(tag), { textContent: text }, more);
const minus = (text) => text.replace("-", "−");
const short = (value) => minus(value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3)).replace(/^−(0\.?0*)$/, "$1");
const names = pieces.map((piece, i) => pieces.indexOf(piece) === pieces.lastIndexOf(piece) ? piece : `${piece} (${i + 1})`);
const count = (length) => Array.from({ length }, (_, i) => String(i + 1));
let chosen = data.selected, wide = false;

/* A table of numbers. A row is { name, values, kind, more, row }: `more` stands behind its numbers, `row` is the piece that
   the row is of. Rows of one `part` share their strongest colour. `of`: how many columns there are in all. */
function table(id, titles, rows, { of = titles.length, byPiece = false, behind = [] } = {}) {
  const holder = $(id);
  holder.replaceChildren();
  holder.className = byPiece ? "pairs" : "";
  const top = holder.createTHead().insertRow(), body = holder.createTBody();
  top.append(make("th"), ...titles.map((title) => head(title, byPiece)));
  if (of > titles.length) top.append(make("th", "…"));
  top.append(...behind.map((title) => head(title, false)));
  const most = {};
  for (const { values, part = "" } of rows) most[part] = Math.max(most[part] ?? 1e-12, ...values.map(Math.abs));
  for (const { name, values, kind = "", part = "", more = [], row } of rows) {
    const line = body.insertRow();
    line.className = kind;
    if (row !== undefined) line.dataset.row = row;
    const label = make("th", name, { scope: "row", title: name });
    label.dir = "auto";
    line.append(label, ...values.map((value, i) => cell(value, most[part], `${name}, ${titles[i]}: ${minus(String(value))}`)));
    if (of > titles.length) line.append(make("td", "", { className: "left" }));
    line.append(...more.map((value) => typeof value === "number" ? cell(value, Infinity, minus(String(value))) : make("td", value, { className: "left" })));
  }
  if (of > titles.length) holder.createCaption().textContent = `columns 1 to ${titles.length} of ${of}; ${of - titles.length} are left out`;
}
function head(title, upright) {
  const made = make("th", upright ? "" : title, { scope: "col" });
  if (upright) {
    made.className = "piece";
    made.append(make("span", title, { dir: "auto" }));
  }
  return made;
}
function cell(value, most, title) {
  const made = make("td", short(value), { title, className: value < 0 ? "minus" : "plus" });
  made.style.setProperty("--s", `${(45 * Math.abs(value) / most).toFixed(0)}%`);
  return made;
}

/* What every step has of all pieces. */
const narrow = (values) => wide ? values : values.slice(0, columns);
function ofPieces(id, values, options) {
  const titles = options?.byPiece ? names : count(values[0].length);
  table(id, titles, values.map((one, row) => ({ name: names[row], values: one, row })), options);
}
function everyPiece() {
  for (const id of ["x", ...(data.pre ? ["read"] : [])]) ofPieces(id, data[id], { of: data.of_model });
  for (const id of ["query", "key", "value", "output"]) ofPieces(id, data[id].map(narrow), { of: data.of_head_dim });
  for (const id of ["products", "scores", "pattern"]) ofPieces(id, data[id], { byPiece: true });
  ofPieces("write", data.writes[data.head], { of: data.of_model });
}

/* The row of the chosen piece. */
const largest = (values) => values.indexOf(Math.max(...values));
const sum = (values) => values.reduce((total, value) => total + value, 0);
function theRow() {
  const i = chosen, narrowed = count(Math.min(wide ? Infinity : columns, data.of_head_dim)), inModel = count(data.x[0].length);
  const said = { piece: `piece ${names[i]}`, position: `position ${i + 1}`, type: "segment 1", sum: "sum", LayerNorm: "LayerNorm", projected: "projected" };
  table("embeddings", count(data.embeddings[0][1][i].length), data.embeddings.map(([name, values]) => ({ name: said[name], values: values[i], kind: name === "sum" ? "sum" : "", part: ["LayerNorm", "projected"].includes(name) ? name : "" })), { of: data.of_size });

  const j = Number($("fits").value), q = narrow(data.query[i]), k = narrow(data.key[j]);
  const terms = [{ name: `query of ${names[i]}`, values: q }, { name: `key of ${names[j]}`, values: k }];
  terms.push({ name: "multiplied", values: q.map((value, c) => value * k[c]), kind: "sum", part: "product", more: [data.products[i][j]] });
  table("terms", narrowed, terms, { of: data.of_head_dim, behind: [`sum of all ${data.of_head_dim}`] });

  const most = Math.max(...data.scores[i]), powers = data.scores[i].map((score) => Math.exp(score - most));
  const steps = [["product", data.products], ["score", data.scores], ["e^(score − m)", [powers]], ["weight", data.pattern]];
  const rows = steps.map(([name, values]) => ({ name, values: values[name.startsWith("e") ? 0 : i], part: name, kind: name === "weight" ? "sum" : "" }));
  rows[2].more = [sum(powers)];
  rows[3].more = [sum(data.pattern[i])];
  table("softmax", names, rows, { byPiece: true, behind: ["sum"] });

  const weights = data.pattern[i];
  const mixed = names.map((piece, key) => ({ name: piece, values: narrow(data.value[key]).map((value) => weights[key] * value), more: [weights[key]] }));
  table("mixture", narrowed, [...mixed, { name: "sum", values: narrow(data.output[i]), kind: "sum" }], { of: data.of_head_dim, behind: ["weight"] });

  const own = (kind, name) => data[kind].map((values, at) => ({ name: name(at), values: values[i], kind: at === data.head ? "own" : "", more: [data[`${kind}_length`][at][i]] }));
  const size = data.of_head_dim;
  table("concat", count(data.outputs[0][0].length), own("outputs", (at) => `head ${at + 1} (${at * size + 1}–${(at + 1) * size})`), { of: size, behind: ["length"] });
  const written = [...own("writes", (at) => `head ${at + 1}`), { name: "bias", values: data.bias, more: [data.bias_length] }, { name: "sum", values: data.mixed[i], kind: "sum", more: [data.mixed_length[i]] }];
  table("writes", inModel, written, { of: data.of_model, behind: ["length"] });
  const residual = [["x", data.x], ["MultiHead", data.mixed], ["sum", data.added], ["LayerNorm", data.normed]];
  table("residual", inModel, residual.map(([name, values]) => ({ name, values: values[i], kind: name === "sum" ? "sum" : "", part: name === "LayerNorm" ? name : "" })), { of: data.of_model });
}

/* Which piece is followed. */
const chips = pieces.map((piece, i) => {
  const word = words[i], chip = make("button", piece, { type: "button", title: word && word !== piece ? `${piece}, of the word ${word}` : piece });
  chip.dir = "auto";
  chip.className = word ? "" : "special";
  chip.setAttribute("role", "radio");
  chip.addEventListener("click", () => choose(i));
  return chip;
});
function choose(piece) {
  chosen = piece;
  chips.forEach((chip, i) => {
    chip.setAttribute("aria-checked", i === piece);
    chip.tabIndex = i === piece ? 0 : -1;
  });
  const { offsetLeft, offsetWidth } = chips[piece], strip = $("pieces");
  strip.scrollLeft = offsetLeft - strip.offsetLeft - (strip.clientWidth - offsetWidth) / 2;
  for (const said of document.querySelectorAll(".followed")) said.textContent = names[piece];
  $("fits").value = largest(data.products[piece]);
  theRow();
  mark();
}
function mark() {
  for (const row of document.querySelectorAll("[data-row]")) row.classList.toggle("asked", Number(row.dataset.row) === chosen);
}
$("pieces").append(...chips);
$("fits").append(...names.map((name, i) => make("option", name, { value: i })));
$("fits").addEventListener("change", theRow);
$("pieces").addEventListener("keydown", (event) => {
  const to = { ArrowLeft: chosen - 1, ArrowUp: chosen - 1, ArrowRight: chosen + 1, ArrowDown: chosen + 1, Home: 0, End: n - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  choose(Math.min(n - 1, Math.max(0, to)));
  chips[chosen].focus({ preventScroll: true });
});
document.querySelector("main").addEventListener("click", (event) => {
  const row = event.target.closest("[data-row] > th")?.parentElement.dataset.row;
  if (row !== undefined) choose(Number(row));
});
for (const box of document.querySelectorAll(".all")) {
  box.addEventListener("change", () => {
    wide = box.checked;
    for (const other of document.querySelectorAll(".all")) other.checked = wide;
    everyPiece();
    theRow();
    mark();
  });
}

/* Step by step: where the page stands says which step it is. */
const steps = [...document.querySelectorAll(".step")], bar = document.querySelector(".bar");
const current = () => steps.findLastIndex((step) => step.getBoundingClientRect().top <= bar.offsetHeight + 24);
function go(step) {
  if (step < -1 || step >= steps.length) return;
  if (step < 0) scrollTo(0, 0);
  else {
    steps[step].scrollIntoView();
    steps[step].querySelector("h2").focus({ preventScroll: true });
  }
  tell();
}
function tell() {
  const at = current();
  $("at").textContent = at < 0 ? `${steps.length} steps` : `Step ${at + 1} of ${steps.length}: ${steps[at].querySelector("h2").lastChild.textContent.trim()}`;
  $("back").disabled = at < 0;
  $("next").disabled = at === steps.length - 1;
}
$("back").addEventListener("click", () => go(current() - 1));
$("next").addEventListener("click", () => go(current() + 1));
document.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest("[role=radiogroup], .scroll, input, select")) return;
  event.preventDefault();
  go(current() + by);
});
function measure() {
  document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
  tell();
}
addEventListener("scroll", tell, { passive: true });
addEventListener("resize", measure);
everyPiece();
choose(chosen);
measure();
if (location.hash) $(location.hash.slice(1))?.scrollIntoView();
