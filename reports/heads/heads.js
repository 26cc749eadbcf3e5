
const named = ({ title, unit }) => unit ? `${title}, ${unit}` : title;

/* Round numbers between two others, six at the most. */
function ticks(least, most) {
  const power = 10 ** Math.floor(Math.log10((most - least) / 4)), step = [1, 2, 5, 10].map((one) => one * power).find((one) => (most - least) / one <= 5);
  return Array.from({ length: Math.floor(most / step) - Math.ceil(least / step) + 1 }, (_, i) => Number(((Math.ceil(least / step) + i) * step).toPrecision(6)));
}

/* A dot a head over two of several numbers: `show` is told the place of the head that is pointed at, null for none, and `choose` the one that is pressed. */
function headScatter(root, names, numbers, first, show, choose) {
  const cloud = root.querySelector(".cloud"), choices = ["x", "y"].map((name) => root.querySelector(`[data-role=${name}]`));
  const svg = shape("svg", { role: "img" }), [across, up] = [0, 1].map(() => element("p", "", { className: "note" }));
  cloud.append(up, svg, across);
  const scatter = { dots: [], axes: [] };

  const axis = ({ values }, from, to) => {
    const known = values.filter((value) => value !== null), [low, high] = [Math.min(...known), Math.max(...known)], room = (high - low) * 0.05 || 0.5;
    return { at: (value) => from + (value - low + room) / (high - low + 2 * room) * (to - from), marks: known.length ? ticks(low - room, high + room) : [] };
  };
  scatter.draw = () => {
    const width = Math.min(cloud.clientWidth || 520, 700), height = Math.min(0.7 * width, 340), left = 46, foot = height - 24;
    const [x, y] = scatter.axes = choices.map((choice) => numbers[choice.value]);
    const [toX, toY] = [axis(x, left, width - 8), axis(y, foot, 8)];
    [across.textContent, up.textContent] = [`→ ${named(x)}`, `↑ ${named(y)}`];
    for (const [name, value] of Object.entries({ width, height, "aria-label": `A dot for each head: ${named(y)}, against ${named(x)}` })) svg.setAttribute(name, value);
    scatter.dots = names.map((name, i) => {
      if (x.values[i] === null || y.values[i] === null) return null;
      const dot = shape("circle", { cx: toX.at(x.values[i]), cy: toY.at(y.values[i]), r: 5.5 });
      dot.addEventListener("pointerenter", () => show(i));
      dot.addEventListener("pointerleave", () => show(null));
      dot.addEventListener("click", () => choose(name));
      return dot;
    });
    svg.replaceChildren(
      ...toX.marks.flatMap((mark) => [shape("line", { x1: toX.at(mark), x2: toX.at(mark), y1: 8, y2: foot }), shape("text", { x: toX.at(mark), y: height - 6, "text-anchor": "middle" }, minus(mark))]),
      ...toY.marks.flatMap((mark) => [shape("line", { x1: left, x2: width - 8, y1: toY.at(mark), y2: toY.at(mark) }), shape("text", { x: left - 8, y: toY.at(mark) + 4, "text-anchor": "end" }, minus(mark))]),
      ...scatter.dots.filter(Boolean),
    );
    root.dispatchEvent(new Event("drawn"));
  };
  /* Give the dot of a head a class, take it from all others, and draw it last unless it is under the pointer. */
  scatter.mark = (place, look) => {
    scatter.dots.forEach((dot, i) => dot?.classList.toggle(look, i === place));
    if (scatter.dots[place]?.matches(":not(:hover)")) svg.append(scatter.dots[place]);
  };
  choices.forEach((choice, i) => {
    offer(choice, numbers);
    choice.value = first[i];
    choice.addEventListener("change", scatter.draw);
  });
  new ResizeObserver(scatter.draw).observe(cloud);
  return scatter;
}

/* Every head: one is chosen, and the grid, the card, tables, maps and whatever else listens to "head" follow it. */
function everyHead(root) {
  const data = JSON.parse(root.querySelector("script").textContent), { layers, heads, views } = data;
  const cards = new Map(data.cards.map((card) => [card.name, card.parts]));
  const [select, colour] = ["head", "colour"].map((name) => root.querySelector(`[data-role=${name}]`));
  const [place, readout, scale, rolekeys] = [".card", ".readout", ".scale", ".rolekeys"].map((name) => root.querySelector(name));
  const NAMING = 1; // columns that name a row where some are folded
  let chosen = data.first, view = views[0], number = null, all = false;

  /* Cells without letters are numbers, which do not break; a table of many columns stands one under the other where it is narrow. */
  const row = (cells, tag, titles) => {
    const tr = document.createElement("tr");
    tr.append(...cells.map((text) => element(tag, text.replace("->", "-\u2060>\u200b"), { className: /\p{L}{2}/u.test(text) ? "" : "number" })));
    titles.forEach((title, i) => { if (tag === "td") tr.cells[i].dataset.title = title; });
    return tr;
  };
  const table = (title, columns, rows) => {
    const made = element("table", "", { className: `data small${columns.length > 4 ? " many" : ""}`, ariaLabel: title });
    made.createTHead().append(row(columns, "th", columns));
    made.createTBody().append(...rows.map((cells) => row(cells, "td", columns)));
    return made;
  };
  const folded = (part) => {
    const made = element("details", "", { open: all }), terms = element("dl", "", { className: "terms" });
    terms.append(...data.folded.flatMap(([term, meaning]) => [element("dt", term), element("dd", meaning)]));
    const others = (cells) => [...cells.slice(0, NAMING), ...cells.slice(-part.folded)];
    made.append(element("summary", "Other columns"), table(part.title, others(part.columns), part.rows.map(others)), terms);
    made.addEventListener("toggle", () => { all = made.open; });
    return made;
  };
  const told = (part) => {
    const first = (cells) => cells.slice(0, cells.length - part.folded);
    const made = [element("h4", part.title), ...part.sentences.map((text) => element("p", text))];
    if (part.rows.length) made.push(table(part.title, first(part.columns), part.rows.map(first)));
    return part.folded ? [...made, folded(part)] : made;
  };
  const card = (name) => {
    const parts = cards.get(name).flatMap(told);
    if (data.ablate) parts.push(element("h4", "Ablate it"), element("pre", data.ablate.replace("HEAD", name), { tabIndex: 0 }));
    place.replaceChildren(element("h3", `Head ${name}`), ...(parts.length ? parts : [element("p", "No label was tested in this head.")]));
    select.value = name;
  };

  /* The grid. Its cells are found by name, as those of all other grids on the page. */
  const valued = (one, i) => `${one.title}: ${one.texts?.[i] ?? `${one.values[i] === null ? "–" : minus(one.values[i])} ${one.unit}`}`.trimEnd();
  const said = (i) => `Head ${names[i]}: ${view.descriptions[names[i]] ?? "not there"}`;
  const point = (i) => {
    const at = i ?? names.indexOf(chosen), numbers = [...new Set([number, ...scatter.axes])].filter(Boolean);
    readout.replaceChildren(said(at), document.createElement("br"), element("span", numbers.flatMap((one) => one === number && one.about ? [valued(one, at), one.about] : [valued(one, at)]).join(" · "), { className: "muted" }));
    readout.style.minHeight = `${readout.offsetHeight}px`; // it never shrinks, or the dots below would move from under the pointer
    grid.cells.forEach((cell, k) => cell.classList.toggle("pointed", k === i));
    scatter.mark(i, "pointed");
  };
  const grid = headGrid(root.querySelector(".grid"), layers, heads, point), names = grid.cells.map((cell) => cell.dataset.head);
  root.classList.toggle("broad", heads > 16);
  data.attention?.forEach((said, layer) => {
    const name = root.querySelector(".grid").tBodies[0].rows[layer].cells[0];
    name.title = said;
    if (said !== "global") name.append(element("span", " local", { className: "muted" }));
  });
  const NAMED = 4; // heads of a role that the legend names
  const headCount = (n) => `${n} head${n === 1 ? "" : "s"}`;
  const key = (look, letter, text, more) => {
    const item = document.createElement("li");
    item.append(element("i", letter, { className: look, ariaHidden: "true" }), ` ${text} `, element("span", more, { className: "muted" }));
    return item;
  };
  const paintRoles = () => {
    const role = new Map(view.roles.flatMap((one) => one.heads.map((name) => [name, one])));
    grid.cells.forEach((cell, i) => {
      const main = role.get(names[i]);
      cell.textContent = main ? main.letter : cards.has(names[i]) ? "·" : "";
      cell.className = main ? `role-${main.colour}` : "";
      cell.style.removeProperty("--cell");
      cell.title = "";
      cell.setAttribute("aria-label", said(i));
    });
    const keys = view.roles.map((one) => key(`role-${one.colour}`, one.letter, one.text, `${one.probe}, ${one.heads.length > NAMED ? headCount(one.heads.length) : one.heads.join(", ")}`));
    rolekeys.replaceChildren(...keys, key("", "·", view.none, headCount(cards.size - role.size)));
  };
  /* The scatter has the colours of the grid. */
  const colourDots = () => {
    scatter.dots.forEach((dot, i) => {
      dot?.setAttribute("class", number ? "" : grid.cells[i].className);
      dot?.style.setProperty("--dot", grid.cells[i].style.getPropertyValue("--cell") || "var(--ramp0)");
    });
    scatter.mark(names.indexOf(chosen), "current");
  };
  const paint = () => {
    number = data.numbers[colour.value - views.length] ?? null;
    view = views[colour.value] ?? views[0];
    if (number) paintNumber(grid.cells, scale, number.values, number.unit, true, (i) => `Head ${names[i]}: ${valued(number, i)}`, number.marked);
    else paintRoles();
    scale.lastElementChild.hidden = !number?.marked.length;
    [scale.hidden, rolekeys.hidden] = [!number, Boolean(number)];
    colourDots();
    point(null);
  };
  const layer = { title: "layer", unit: "", values: names.map((name) => parseInt(name, 10)) }, placed = [layer, ...data.numbers];
  const up = Math.min((data.up ?? 0) + 1, placed.length - 1), across = data.across === null || data.across + 1 === up ? 0 : data.across + 1;
  const scatter = headScatter(root, names, placed, [across, up], point, (name) => keep(name));
  root.addEventListener("drawn", colourDots);
  for (const cell of grid.cells) cell.tabIndex = -1;
  offer(colour, [...views.map((one) => ({ title: one.probe, group: "main role" })), ...data.numbers]);
  colour.addEventListener("change", paint);
  scatter.draw();
  paint();

  /* Names of heads in tables lead to the card; a row belongs to each head that it names. */
  const rows = [];
  for (const named of document.querySelectorAll(".head")) {
    const name = named.textContent.trim();
    if (!cards.has(name)) continue;
    named.replaceChildren(element("a", name, { href: `#head-${name}` }));
    rows.push([name, named.closest("tr, li")]);
  }

  const choose = (name) => {
    chosen = name;
    card(name);
    const at = grid.cells.findIndex((cell) => cell.dataset.head === name);
    grid.cells[grid.focus].tabIndex = -1;
    grid.focus = at;
    grid.cells[at].tabIndex = 0;
    point(null);
    scatter.mark(at, "current");
    for (const cell of document.querySelectorAll("[data-head]")) cell.setAttribute("aria-selected", cell.dataset.head === name);
    const naming = new Set(rows.filter(([one]) => one === name).map(([, line]) => line));
    for (const [, line] of rows) line?.classList.toggle("current", naming.has(line));
    document.dispatchEvent(new CustomEvent("head", { detail: name }));
  };
  const keep = (name) => { history.replaceState(null, "", `#head-${name}`); choose(name); };
  const open = (name) => { keep(name); root.closest("section").scrollIntoView(); };

  select.append(...[...cards.keys()].map((name) => element("option", name, { value: name })));
  select.addEventListener("change", () => keep(select.value));
  const press = (target) => {
    const cell = target.closest?.("[data-head]");
    if (cell && cards.has(cell.dataset.head)) (root.contains(cell) ? keep : open)(cell.dataset.head);
  };
  document.addEventListener("click", ({ target }) => press(target));
  document.addEventListener("keydown", (event) => {
    if (!["Enter", " "].includes(event.key) || !event.target.matches("[data-head]")) return;
    event.preventDefault();
    press(event.target);
  });
  root.querySelector(".grid").addEventListener("pointerleave", () => point(null));
  document.addEventListener("choose", ({ detail }) => { if (cards.has(detail)) keep(detail); });
  const asked = () => location.hash.replace("#head-", "");
  addEventListener("hashchange", () => { if (cards.has(asked())) open(asked()); });

  /* What listens stands further down and is ready after this script. */
  queueMicrotask(() => cards.has(asked()) ? open(asked()) : choose(chosen));
}
document.querySelectorAll("[data-heads]").forEach(everyHead);
