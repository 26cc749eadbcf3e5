
/* Maps of a number of every head, one at a time, in its own unit; null where there is none. Below 0 it has the colour of wrong answers. */
function matrix(root) {
  const { layers, heads, maps } = JSON.parse(root.querySelector("script").textContent);
  const [choice, stretch] = ["map", "stretch"].map((name) => root.querySelector(`[data-role=${name}]`));
  const readout = root.querySelector(".readout"), scale = root.querySelector(".scale");
  let map = maps[0];

  const written = (i) => map.values[i] === null ? "–" : compact(map.values[i], largest(map.values));
  const said = (i) => `Head ${Math.floor(i / heads) + 1}-${(i % heads) + 1} · ${map.texts[i] ?? `${written(i)} ${map.unit}`}`;
  const show = (i) => readout.replaceChildren(element("b", said(i)), document.createElement("br"), element("span", map.about, { className: "muted" }));
  const grid = headGrid(root.querySelector(".grid"), layers, heads, show);

  function draw() {
    paintNumber(grid.cells, scale, map.values, map.unit, stretch.checked, said, map.marked);
    grid.cells.forEach((cell, i) => { cell.tabIndex = i === grid.focus ? 0 : -1; });
    show(grid.focus);
  }

  offer(choice, maps);
  choice.closest("label").hidden = maps.length < 2;
  choice.addEventListener("change", () => { map = maps[choice.value]; draw(); });
  stretch.addEventListener("change", draw);
  draw();
}
document.querySelectorAll("[data-matrix]").forEach(matrix);
