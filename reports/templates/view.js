"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const { layers, heads, words } = data, n = words.length, special = new Set(data.special);
const bytes = Uint8Array.from(atob(data.weights), (c) => c.charCodeAt(0));
const $ = (id) => document.getElementById(id);
const make = (tag, attributes = {}, text = "") => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
};
const weight = (head, query, key) => bytes[(head * n + query) * n + key] / 255;
const name = (head) => `${Math.floor(head / heads) + 1}-${(head % heads) + 1}`;
const percent = (w) => w > 0 && w < 0.005 ? "< 1 %" : `${Math.round(100 * w)} %`;
let chosen = 0, kept = null, shown = null;

/* The grid of thumbnails. */
const buttons = [];
function grid() {
  $("grid").style.gridTemplateColumns = `18px repeat(${heads}, minmax(18px, 46px))`;
  $("grid").append(...["", ...Array.from({ length: heads }, (_, i) => i + 1)].map(caption));
  for (let layer = 0; layer < layers; layer += 1) {
    $("grid").append(caption(layer + 1));
    for (let head = 0; head < heads; head += 1) {
      const i = layer * heads + head, button = document.createElement("button"), canvas = document.createElement("canvas");
      canvas.width = canvas.height = n;
      button.type = "button";
      button.title = `head ${name(i)}`;
      button.setAttribute("role", "radio");
      button.setAttribute("aria-label", `head ${name(i)}`);
      button.append(canvas);
      button.addEventListener("click", () => choose(i));
      buttons.push(button);
      $("grid").append(button);
    }
  }
}
function caption(text) {
  const span = document.createElement("span");
  span.textContent = text;
  return span;
}
function thumbnails() {
  const [low, high] = ["--ramp0", "--ramp1"].map((ramp) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(ramp).trim().slice(1);
    return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
  });
  buttons.forEach((button, head) => {
    const context = button.firstChild.getContext("2d"), image = context.createImageData(n, n);
    for (let cell = 0; cell < n * n; cell += 1) {
      const part = Math.sqrt(bytes[head * n * n + cell] / 255);
      for (let c = 0; c < 3; c += 1) image.data[4 * cell + c] = low[c] + part * (high[c] - low[c]);
      image.data[4 * cell + 3] = 255;
    }
    context.putImageData(image, 0, 0);
  });
}

/* One head, large. */
const longest = Math.max(...words.map((word) => [...word].length));
const column = Math.min(190, 18 + 8 * longest), row = n > 22 ? 19 : 23;
const cut = (word) => [...word].length > 21 ? `${[...word].slice(0, 20).join("")}…` : word;
const lit = () => shown ?? kept;
const dropped = (query, key) => $("hide").checked && (special.has(query) || special.has(key));

function wordAt(query, x, y, anchor) {
  const group = make("g", { class: `word${kept === query ? " kept" : ""}`, tabindex: 0, role: "button", "aria-pressed": kept === query, "data-query": query });
  group.append(
    make("rect", { x: anchor === "end" ? x - column + 8 : x - 4, y: y - row / 2, width: column - 4, height: row }),
    make("text", { x, y, "text-anchor": anchor, class: special.has(query) ? "special" : "" }, cut(words[query])),
  );
  group.addEventListener("pointerenter", () => { shown = query; highlight(); });
  group.addEventListener("pointerleave", () => { shown = null; highlight(); });
  group.addEventListener("focus", () => { shown = query; highlight(); });
  group.addEventListener("blur", () => { shown = null; highlight(); });
  group.addEventListener("click", () => keep(query));
  group.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    keep(query);
  });
  return group;
}
function keep(query) {
  kept = kept === query ? null : query;
  document.querySelectorAll(".word").forEach((group) => {
    const on = Number(group.dataset.query) === kept;
    group.classList.toggle("kept", on);
    group.setAttribute("aria-pressed", on);
  });
  highlight();
}
function lines() {
  const svg = $("lines"), across = 150, width = 2 * column + across, least = $("least").value / 100;
  const y = (i) => row * (i + 0.5) + 2;
  svg.setAttribute("viewBox", `0 0 ${width} ${row * n + 4}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", row * n + 4);
  svg.replaceChildren();
  const from = column, to = column + across;
  for (let query = 0; query < n; query += 1) {
    for (let key = 0; key < n; key += 1) {
      const w = weight(chosen, query, key);
      if (w < Math.max(least, 0.004) || dropped(query, key)) continue;
      const path = make("path", { d: `M${from} ${y(query)}C${from + across / 2} ${y(query)} ${to - across / 2} ${y(key)} ${to} ${y(key)}`, "stroke-width": (0.6 + 4 * w).toFixed(2), "stroke-opacity": (0.18 + 0.8 * w).toFixed(2), "data-query": query });
      path.append(make("title", {}, `${words[query]} → ${words[key]}: ${percent(w)}`));
      svg.append(path);
    }
  }
  for (let i = 0; i < n; i += 1) {
    svg.append(wordAt(i, from - 6, y(i), "end"), make("text", { x: to + 6, y: y(i), class: special.has(i) ? "special" : "" }, cut(words[i])));
  }
}
function matrix() {
  const svg = $("matrix"), room = svg.parentElement.clientWidth - column - 26;
  const cell = Math.max(10, Math.min(22, Math.floor(room / n)));
  const left = column, top = Math.min(column, 150), size = cell * n;
  svg.setAttribute("viewBox", `0 0 ${left + size + 30} ${top + size + 4}`);
  svg.setAttribute("width", left + size + 30);
  svg.setAttribute("height", top + size + 4);
  svg.replaceChildren();
  const style = `font-size:${Math.min(13, cell - 1)}px`;
  for (let i = 0; i < n; i += 1) {
    const at = cell * (i + 0.5), kind = special.has(i) ? "special" : "";
    svg.append(make("text", { x: left - 6, y: top + at, "text-anchor": "end", class: kind, style }, cut(words[i])));
    svg.append(make("text", { transform: `translate(${left + at} ${top - 6}) rotate(-60)`, class: kind, style }, cut(words[i])));
    for (let key = 0; key < n; key += 1) {
      const w = dropped(i, key) ? 0 : weight(chosen, i, key);
      const square = make("rect", { class: "cell", x: left + cell * key, y: top + cell * i, width: cell - 1, height: cell - 1, style: `--w:${w.toFixed(3)}`, "data-query": i });
      square.append(make("title", {}, `${words[i]} → ${words[key]}: ${percent(weight(chosen, i, key))}`));
      square.addEventListener("pointerenter", () => { shown = i; highlight(); });
      square.addEventListener("pointerleave", () => { shown = null; highlight(); });
      svg.append(square);
    }
  }
  svg.append(make("rect", { class: "frame", x: left - 1, width: size + 1, height: cell + 1, y: -100 }));
  svg.dataset.cell = cell;
  svg.dataset.top = top;
}
function highlight() {
  const query = lit(), { cell, top } = $("matrix").dataset;
  document.querySelectorAll("#lines path").forEach((path) => path.classList.toggle("dim", query !== null && Number(path.dataset.query) !== query));
  $("matrix").querySelector(".frame").setAttribute("y", query === null ? -100 : Number(top) + cell * query - 1);
  if (query === null) { $("said").textContent = "Point at a word to see where it attends."; return; }
  const best = words.map((word, key) => [weight(chosen, query, key), word]).sort((a, b) => b[0] - a[0]).slice(0, 5).filter(([w]) => w >= 0.005);
  $("said").textContent = `${words[query]} attends to ${best.map(([w, word]) => `${word} ${percent(w)}`).join(", ")}`;
}
function where() {
  const parts = { "special tokens": 0, "itself": 0, "previous word": 0, "next word": 0, "other words": 0 };
  const asking = words.map((_, i) => i).filter((i) => !special.has(i));
  for (const query of asking) {
    for (let key = 0; key < n; key += 1) {
      const kind = special.has(key) ? "special tokens" : { 0: "itself", "-1": "previous word", 1: "next word" }[key - query] ?? "other words";
      parts[kind] += weight(chosen, query, key) / asking.length;
    }
  }
  const total = Object.values(parts).reduce((sum, part) => sum + part, 0) || 1;
  $("where").replaceChildren(...Object.entries(parts).map(([kind, part]) => {
    const box = document.createElement("div"), bar = document.createElement("i"), number = document.createElement("b");
    number.textContent = percent(part / total);
    bar.style.setProperty("--part", part / total);
    box.append(number, ` to ${kind}`, bar);
    return box;
  }));
}
function choose(head, focus = false) {
  chosen = head;
  buttons.forEach((button, i) => {
    button.setAttribute("aria-checked", i === head);
    button.tabIndex = i === head ? 0 : -1;
  });
  if (focus) buttons[head].focus({ preventScroll: true });
  $("name").textContent = `Head ${name(head)}`;
  if (location.hash !== `#${name(head)}`) history.replaceState(null, "", `#${name(head)}`);
  draw();
}
function draw() {
  $("leastsaid").textContent = `${$("least").value} %`;
  shown = null;
  lines();
  matrix();
  where();
  highlight();
}
function fromHash() {
  const [layer, head] = location.hash.slice(1).split("-").map(Number);
  const valid = Number.isInteger(layer) && Number.isInteger(head) && layer >= 1 && layer <= layers && head >= 1 && head <= heads;
  choose(valid ? (layer - 1) * heads + head - 1 : chosen);
}
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input[type=range]")) return;
  event.preventDefault();
  const layer = Math.floor(chosen / heads) + step[0], head = (chosen % heads) + step[1];
  if (layer >= 0 && layer < layers && head >= 0 && head < heads) choose(layer * heads + head, $("grid").contains(document.activeElement));
});
addEventListener("hashchange", fromHash);
addEventListener("resize", () => { matrix(); highlight(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", thumbnails);
$("hide").addEventListener("change", draw);
$("least").addEventListener("input", draw);
document.querySelector(".pair").classList.toggle("long", n > 22);
grid();
thumbnails();
fromHash();
