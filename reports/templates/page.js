/* Tables: a narrow screen shows each row as a list of its cells, which then say what column they are of. */
for (const table of document.querySelectorAll("table.data:has(thead):has(tbody td):not(:has([rowspan]))")) {
  const titles = [...table.tHead.rows[0].cells].map((head) => head.textContent);
  for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, i) => { cell.dataset.title = cell.matches(".spark") ? "" : `${titles[i]}: `; });
  table.classList.add("stacks");
}

/* They sort by a click on a column head, filter by text. Missing numbers stay last in both directions. */
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

/* Whole tenths of a percent, null where nothing was measured. */
const percent = (tenths) => tenths === null ? "–" : (tenths / 10).toFixed(1);
const minus = (value) => `${value}`.replace("-", "−");
const element = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text }, more);
const shape = (tag, attributes, text = "") => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
};

function colour(fraction) {
  const half = fraction < 0.5, part = (half ? fraction : fraction - 0.5) * 200;
  return `color-mix(in oklab, var(--ramp${half ? 1 : 2}) ${part.toFixed(1)}%, var(--ramp${half ? 0 : 1}))`;
}

/* A table of all heads, layers as rows: arrow keys move through it, and `show` is told the head that is pointed at. */
function headGrid(table, layers, heads, show) {
  const grid = { cells: [], focus: 0 }, { cells } = grid;
  const corner = element("th", "head →", { scope: "col", ariaLabel: "layer" });
  corner.append(document.createElement("br"), "layer ↓");
  table.createTHead().insertRow().append(corner, ...Array.from({ length: heads }, (_, head) => element("th", head + 1, { scope: "col" })));
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

/* Offer things with a title and perhaps a group; each is chosen by its place. */
function offer(select, list) {
  for (const group of new Set(list.map((one) => one.group ?? ""))) {
    const options = list.flatMap((one, i) => (one.group ?? "") === group ? [element("option", one.title, { value: i })] : []);
    if (group) options.unshift(element("optgroup", "", { label: group }));
    if (group) options[0].append(...options.splice(1));
    select.append(...options);
  }
}

/* Colour all heads by a number in its own unit, null where there is none; below 0 it has the colour of wrong answers. */
const largest = (values) => Math.max(...values.map((value) => Math.abs(value ?? 0))) || 1;
function paintNumber(cells, scale, values, unit, stretched, said, marked = []) {
  const known = values.filter((value) => value !== null), most = largest(values), below = known.some((value) => value < 0);
  const narrow = stretched && !below && known.length > 1;
  const from = narrow ? Math.min(...known) : 0, to = narrow || unit !== "%" || below ? most : 100;
  cells.forEach((cell, i) => {
    const value = values[i], part = value === null ? 0 : Math.min(1, (Math.abs(value) - from) / (to - from || 1));
    fill(cell, value, value < 0 ? 0 : part, said(i), marked.includes(i) && "specialised");
    if (value < 0) cell.style.setProperty("--cell", `color-mix(in oklab, var(--wrong) ${(65 * part).toFixed(1)}%, var(--ramp0))`);
    cell.textContent = value === null ? "–" : compact(value, most);
  });
  const [low, , high] = scale.children;
  scale.classList.toggle("costs", below);
  [low.textContent, high.textContent] = [below ? -most : from, to].map((end) => `${compact(end, most)} ${unit}`);
}

/* A number in a cell of a map, as `compact` of reports/formats.py writes it. */
function compact(value, most) {
  const text = value.toFixed(most >= 10 ? 0 : most >= 2 ? 1 : most >= 0.2 ? 2 : 3).replace(/^-(0\.?0*)$/, "$1").replace("-", "−");
  return most < 1 && Math.abs(value) < 1 ? text.replace("0.", ".") : text;
}
