
/* Every head: one is chosen, and the grid, the card, tables, maps and whatever else listens to "head" follow it. */
function everyHead(root) {
  const data = JSON.parse(root.querySelector("script").textContent), { layers, heads, views } = data;
  const cards = new Map(data.cards.map((card) => [card.name, card.parts]));
  const select = root.querySelector("[data-role=head]"), probe = root.querySelector("[data-role=probe]"), place = root.querySelector(".card"), readout = root.querySelector(".readout");
  let chosen = null;

  const row = (cells, tag) => { const tr = document.createElement("tr"); tr.append(...cells.map((cell) => element(tag, cell))); return tr; };
  const table = ({ title, columns, rows }) => {
    const made = document.createElement("table"), scroll = document.createElement("div");
    made.className = "data small";
    Object.assign(scroll, { className: "scroll plain", tabIndex: 0, role: "region", ariaLabel: title });
    made.createTHead().append(row(columns, "th"));
    made.createTBody().append(...rows.map((cells) => row(cells, "td")));
    scroll.append(made);
    return scroll;
  };
  const card = (name) => {
    const parts = cards.get(name).flatMap((part) => [element("h4", part.title), ...part.sentences.map((text) => element("p", text)), ...(part.rows.length ? [table(part)] : [])]);
    place.replaceChildren(element("h3", `Head ${name}`), ...(parts.length ? parts : [element("p", "No label was tested in this head.")]));
    place.scrollTop = 0;
    select.value = name;
  };

  /* The grid. Its cells are found by name, as those of all other grids on the page. */
  let { descriptions } = views[0];
  const describe = (i) => { readout.textContent = descriptions[grid.cells[i].dataset.head] ?? ""; };
  const grid = headGrid(root.querySelector(".grid"), layers, heads, describe);
  root.classList.toggle("broad", heads > 16);
  data.attention?.forEach((said, layer) => {
    const name = root.querySelector(".grid").tBodies[0].rows[layer].cells[0];
    name.title = said;
    if (said !== "global") name.append(element("span", " local", { className: "muted" }));
  });
  const key = (look, letter, text, more) => {
    const item = document.createElement("li");
    item.append(element("i", letter, { className: look, ariaHidden: "true" }), ` ${text} `, element("span", more, { className: "muted" }));
    return item;
  };
  const paint = (view) => {
    const role = new Map(view.roles.flatMap((one) => one.heads.map((name) => [name, one])));
    ({ descriptions } = view);
    for (const cell of grid.cells) {
      const name = cell.dataset.head, main = role.get(name);
      cell.textContent = main ? main.letter : cards.has(name) ? "·" : "";
      cell.className = main ? `role-${main.colour}` : "";
      cell.setAttribute("aria-label", descriptions[name] ?? `Head ${name}: not there`);
    }
    const keys = view.roles.map((one) => key(`role-${one.colour}`, one.letter, one.label, `${one.probe}, ${one.heads.length}`));
    root.querySelector(".rolekeys").replaceChildren(...keys, key("", "·", view.none, cards.size - role.size));
  };
  for (const cell of grid.cells) cell.tabIndex = -1;
  paint(views[0]);
  probe?.append(...views.map((view, i) => element("option", view.probe, { value: i })));
  probe?.addEventListener("change", () => { paint(views[probe.value]); describe(grid.focus); });

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
    describe(at);
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
  root.querySelector(".grid").addEventListener("pointerleave", () => describe(grid.cells.findIndex((cell) => cell.dataset.head === chosen)));
  document.addEventListener("choose", ({ detail }) => { if (cards.has(detail)) keep(detail); });
  const asked = () => location.hash.replace("#head-", "");
  addEventListener("hashchange", () => { if (cards.has(asked())) open(asked()); });

  const graded = ([, parts]) => parts.length ? parts[0].rows.filter((cells) => cells.at(-1).startsWith("grade")).length : 0;
  /* What listens stands further down and is ready once the page is. The first finding is opened, if there is one. */
  const finding = document.querySelector(".leaders .head")?.textContent;
  addEventListener("DOMContentLoaded", () => {
    if (cards.has(asked())) open(asked());
    else if (cards.has(finding)) choose(finding);
    else choose([...cards].reduce((best, one) => graded(one) > graded(best) ? one : best)[0]);
  });
}
document.querySelectorAll("[data-heads]").forEach(everyHead);
