
/* Cards: one at a time, filled from the data of all; the address keeps the head, and every head's name leads to it. */
function headCards(root) {
  const cards = new Map(JSON.parse(root.querySelector("script").textContent).map((card) => [card.name, card.parts]));
  const select = root.querySelector("select"), place = root.querySelector(".card");
  const row = (cells, tag) => { const tr = document.createElement("tr"); tr.append(...cells.map((cell) => element(tag, cell))); return tr; };
  const table = ({ columns, rows }) => {
    const made = document.createElement("table"), scroll = document.createElement("div");
    made.className = "data small";
    scroll.className = "scroll plain";
    made.createTHead().append(row(columns, "th"));
    made.createTBody().append(...rows.map((cells) => row(cells, "td")));
    scroll.append(made);
    return scroll;
  };
  const show = (name) => {
    const parts = cards.get(name).flatMap((part) => [element("h4", part.title), ...part.said.map((text) => element("p", text)), ...(part.rows.length ? [table(part)] : [])]);
    place.replaceChildren(element("h3", `Head ${name}`), ...(parts.length ? parts : [element("p", "No label was tested in this head.")]));
    select.value = name;
  };
  const open = (name) => { history.replaceState(null, "", `#head-${name}`); show(name); root.closest("section").scrollIntoView(); };

  select.append(...[...cards.keys()].map((name) => element("option", name, { value: name })));
  select.addEventListener("change", () => { history.replaceState(null, "", `#head-${select.value}`); show(select.value); });
  for (const place of document.querySelectorAll(".head")) {
    const name = place.textContent.trim();
    if (cards.has(name)) place.replaceChildren(element("a", name, { href: `#head-${name}` }));
  }
  const asked = () => location.hash.replace("#head-", "");
  addEventListener("hashchange", () => { if (cards.has(asked())) open(asked()); });
  document.addEventListener("click", ({ target }) => { const cell = target.closest("[data-head]"); if (cell && cards.has(cell.dataset.head)) open(cell.dataset.head); });
  document.addEventListener("keydown", ({ key, target }) => { if (key === "Enter" && target.dataset?.head && cards.has(target.dataset.head)) open(target.dataset.head); });
  if (cards.has(asked())) open(asked());
  else if (cards.size) show([...cards].reduce((best, card) => size(card) > size(best) ? card : best)[0]);
  function size([, parts]) { return parts.length ? parts[0].rows.filter((cells) => cells.at(-1).startsWith("specialised")).length : 0; }
}
document.querySelectorAll("[data-cards]").forEach(headCards);
