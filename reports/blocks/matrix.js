
/* A number of every head at a time, in its own unit; null where there is none. Below 0 it has the colour of wrong answers. */
function matrix(root) {
  const { layers, heads, maps } = JSON.parse(root.querySelector("script").textContent);
  const [choice, stretch] = ["map", "stretch"].map((name) => root.querySelector(`[data-role=${name}]`));
  const readout = root.querySelector(".readout"), scale = root.querySelector(".scale"), [low, , high] = scale.children;
  let map = maps[0];

  const written = (value, most) => value === null ? "–" : compact(value, most);
  const said = (i) => `Head ${Math.floor(i / heads) + 1}-${(i % heads) + 1} · ${map.text[i] ?? `${written(map.value[i], map.most)} ${map.unit}`}`;
  const show = (i) => readout.replaceChildren(element("b", said(i)), document.createElement("br"), element("span", map.about, { className: "muted" }));
  const grid = headGrid(root.querySelector(".grid"), layers, heads, show);

  function draw() {
    const known = map.value.filter((value) => value !== null), below = known.some((value) => value < 0);
    map.most = Math.max(...known.map(Math.abs), 0) || 1;
    const stretched = stretch.checked && !below && known.length > 1;
    const from = stretched ? Math.min(...known) : 0, to = stretched || map.unit !== "%" || below ? map.most : 100;
    grid.cells.forEach((cell, i) => {
      const value = map.value[i], part = value === null ? 0 : Math.min(1, (Math.abs(value) - from) / (to - from || 1));
      fill(cell, value, value < 0 ? 0 : part, said(i), map.marked.includes(i) && "specialised");
      if (value < 0) cell.style.setProperty("--cell", `color-mix(in oklab, var(--wrong) ${(65 * part).toFixed(1)}%, var(--ramp0))`);
      cell.textContent = written(value, map.most);
      cell.tabIndex = i === grid.focus ? 0 : -1;
    });
    scale.classList.toggle("costs", below);
    [low.textContent, high.textContent] = [below ? -map.most : from, to].map((end) => `${compact(end, map.most)} ${map.unit}`);
    show(grid.focus);
  }

  const groups = [...new Set(maps.map((one) => one.group))];
  for (const group of groups) {
    const options = maps.map((one, i) => [one, i]).filter(([one]) => one.group === group).map(([one, i]) => element("option", one.title, { value: i }));
    choice.append(...(group ? [Object.assign(element("optgroup", ""), { label: group })] : options));
    if (group) choice.lastChild.append(...options);
  }
  choice.closest("label").hidden = maps.length < 2;
  choice.addEventListener("change", () => { map = maps[choice.value]; draw(); });
  stretch.addEventListener("change", draw);
  draw();
}
document.querySelectorAll("[data-matrix]").forEach(matrix);
