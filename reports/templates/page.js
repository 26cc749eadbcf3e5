"use strict";

/* Tables: sort by a click on a column head, filter by text. Missing numbers stay last in both directions. */
for (const table of document.querySelectorAll("table.data:has(thead)")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const numeric = ["num", "verdict"].some((kind) => head.classList.contains(kind)) && !head.classList.contains("rising");
    const up = head.ariaSort ? head.ariaSort !== "ascending" : !numeric;
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const keyed = [...body.rows].map((row) => {
      const cell = row.cells[column], value = cell.dataset.v;
      return [row, value === undefined ? cell.textContent : value === "" ? NaN : Number(value)];
    });
    keyed.sort(([, a], [, b]) => {
      if (typeof a === "string" && typeof b === "string") return (up ? 1 : -1) * a.localeCompare(b, "en", { numeric: true });
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
      return up ? a - b : b - a;
    });
    body.append(...keyed.map(([row]) => row));
  }));
}
for (const input of document.querySelectorAll("[data-filter]")) {
  const rows = [...document.getElementById(input.dataset.filter).tBodies[0].rows];
  const top = input.closest(".tabletop"), output = top.querySelector("output");
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    output.textContent = words.length ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
  };
  input.addEventListener("input", filter);
}

/* Heat maps: numbers are whole tenths of a percent, null where nothing was measured. */
const percent = (tenths) => tenths === null ? "–" : (tenths / 10).toFixed(1);
const element = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text }, more);

/* The first cell of a head row: its words are for those who cannot see what stands below it. */
function corner(text) {
  const cell = element("th", "", { scope: "col" });
  cell.append(element("span", text, { className: "sr" }));
  return cell;
}

function colour(fraction) {
  const half = fraction < 0.5, part = (half ? fraction : fraction - 0.5) * 200;
  return `color-mix(in oklab, var(--ramp${half ? 1 : 2}) ${part.toFixed(1)}%, var(--ramp${half ? 0 : 1}))`;
}

/* A table of all heads, layers as rows: arrow keys move through it, and `show` is told the head that is pointed at. */
function headGrid(table, layers, heads, show) {
  const grid = { cells: [], focus: 0 }, { cells } = grid;
  table.createTHead().insertRow().append(corner("layer"), ...Array.from({ length: heads }, (_, head) => element("th", head + 1, { scope: "col" })));
  const body = table.createTBody();
  for (let layer = 0; layer < layers; layer += 1) {
    const row = body.insertRow();
    row.append(element("th", layer + 1, { scope: "row" }));
    for (let head = 0; head < heads; head += 1) {
      const i = cells.length, cell = row.insertCell();
      cell.setAttribute("role", "gridcell");
      cell.dataset.head = `${layer + 1}-${head + 1}`;
      cell.addEventListener("pointerenter", () => show(i));
      cell.addEventListener("focus", () => { grid.focus = i; show(i); });
      cells.push(cell);
    }
  }
  table.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads, ArrowDown: heads }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const { focus } = grid, next = focus + step, wraps = Math.abs(step) === 1 && Math.floor(next / heads) !== Math.floor(focus / heads);
    if (next < 0 || next >= cells.length || wraps) return;
    cells[focus].tabIndex = -1;
    cells[next].tabIndex = 0;
    cells[next].focus();
  });
  return grid;
}

/* Write one cell: whole tenths of a percent or null, how far up the ramp its colour is, and what it says when asked. */
function fill(cell, value, fraction, said, ...classes) {
  cell.textContent = value === null ? "–" : (value / 10).toFixed(0).replace("-0", "0").replace("-", "−");
  cell.title = said;
  cell.setAttribute("aria-label", said);
  cell.className = [value === null && "none", fraction > 0.55 && "high", ...classes].filter(Boolean).join(" ");
  cell.style.setProperty("--cell", value === null ? "transparent" : colour(fraction));
}

/* One of several maps of all heads, to be chosen: `paint` fills the cells of a map and returns what stands at the ends of its scale, `describe` says a head of it. */
function chosenMap(root, describe, paint) {
  const { layers, heads, maps } = JSON.parse(root.querySelector("script").textContent);
  const choice = root.querySelector("[data-role=map]"), readout = root.querySelector(".readout");
  const [low, , high] = root.querySelector(".scale").children;
  let map = maps[0];

  const said = (i) => `Head ${Math.floor(i / heads) + 1}-${(i % heads) + 1}${describe(map, i)}`;
  const show = (i) => readout.replaceChildren(element("b", said(i)), document.createElement("br"), element("span", map.about, { className: "muted" }));
  const grid = headGrid(root.querySelector(".grid"), layers, heads, show);

  function draw() {
    [low.textContent, high.textContent] = paint(map, grid.cells, said);
    grid.cells.forEach((cell, i) => { cell.tabIndex = i === grid.focus ? 0 : -1; });
    show(grid.focus);
  }

  choice.append(...maps.map((one, i) => element("option", one.title, { value: i })));
  choice.addEventListener("change", () => { map = maps[choice.value]; draw(); });
  draw();
}

function heatMap(root) {
  const data = JSON.parse(root.querySelector("script").textContent), { layers, heads, maps } = data;
  const role = (name) => root.querySelector(`[data-role=${name}]`);
  const [label, variant, column, stretch] = ["label", "variant", "column", "stretch"].map(role);
  const readout = root.querySelector(".readout"), [low, , high] = root.querySelector(".scale").children;
  let map = maps[data.first];

  const at = (list, i) => Array.isArray(list) ? list[i] : list;
  const name = (i) => `${Math.floor(i / heads) + 1}-${(i % heads) + 1}`;
  const describe = (i) => {
    const grade = map.grade[i] ? `grade ${map.grade[i]}: ${data.grades[map.grade[i]]}` : "";
    const noted = [i === map.selected ? "chosen" : "", grade].filter(Boolean).join(", ");
    const parts = [`Head ${name(i)}${noted ? ` (${noted})` : ""}`, `accuracy ${percent(map.accuracy[i])} % [${percent(map.ci_low[i])}, ${percent(map.ci_high[i])}]`];
    if (map.accuracy[i] === null) return `${parts[0]}: nothing measured, n = ${at(map.n, i)}`;
    if (map.mass[i] !== null) parts.push(`mass ${percent(map.mass[i])} %`, `share ${percent(map.share[i])} %`);
    parts.push(`n\u00a0${at(map.n, i).toLocaleString("en")}`, `clusters\u00a0${at(map.clusters, i).toLocaleString("en")}`);
    return parts.join(" · ");
  };
  const about = () => {
    const said = [`${map.label}, ${map.variant}`];
    if (map.baseline_accuracy !== null) said.push(`${map.baseline} ${percent(map.baseline_accuracy)} %`);
    if (map.lexical_accuracy !== null) said.push(`lexical table ${percent(map.lexical_accuracy)} %`);
    if (map.rule_accuracy !== null) said.push(`${map.rule} ${percent(map.rule_accuracy)} %`);
    return said.join(" · ");
  };
  const show = (i) => readout.replaceChildren(element("b", describe(i)), document.createElement("br"), element("span", about(), { className: "muted" }));

  const grid = headGrid(root.querySelector(".grid"), layers, heads, show);

  function draw() {
    const values = map[column.value], most = Math.max(1, ...values.filter((v) => v !== null)), least = Math.min(1000, ...values.filter((v) => v !== null));
    const [from, to] = stretch.checked && most > least ? [least, most] : [0, 1000];
    grid.focus = map.selected ?? 0;
    grid.cells.forEach((cell, i) => {
      const value = values[i], fraction = value === null ? 0 : (value - from) / (to - from);
      fill(cell, value, fraction, describe(i), map.grade[i] > 0 && "specialised", i === map.selected && "selected");
      cell.tabIndex = i === grid.focus ? 0 : -1;
    });
    low.textContent = `${percent(from)} %`;
    high.textContent = `${percent(to)} %`;
    show(grid.focus);
  }

  function choose(wanted) {
    const offered = maps.filter((one) => one.label === label.value);
    map = offered.find((one) => one.variant === wanted) ?? offered[0];
    variant.replaceChildren(...offered.map((one) => element("option", one.variant, { value: one.variant })));
    variant.value = map.variant;
    draw();
  }

  label.append(...[...new Set(maps.map((one) => one.label))].map((text) => element("option", text, { value: text })));
  label.value = map.label;
  choose(map.variant);
  label.addEventListener("change", () => choose(variant.value));
  variant.addEventListener("change", () => choose(variant.value));
  column.addEventListener("change", draw);
  stretch.addEventListener("change", draw);
}
document.querySelectorAll("[data-heat]").forEach(heatMap);

/* A number in a cell of a map, as `compact` of reports/formats.py writes it. */
function compact(value, most) {
  const text = value.toFixed(most >= 10 ? 0 : most >= 2 ? 1 : most >= 0.2 ? 2 : 3).replace(/^-(0\.?0*)$/, "$1").replace("-", "−");
  return most < 1 && Math.abs(value) < 1 ? text.replace("0.", ".") : text;
}
