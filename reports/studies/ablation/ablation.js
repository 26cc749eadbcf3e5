
/* Costs of ablation: blue where the model does worse without a head, the colour of wrong answers where it does better. */
function costMap(root) {
  const { layers, heads, maps } = JSON.parse(root.querySelector("script").textContent);
  const choice = root.querySelector("[data-role=map]"), readout = root.querySelector(".readout");
  const [low, , high] = root.querySelector(".scale").children;
  let map = maps[0];

  const describe = (i) => {
    const name = `Head ${Math.floor(i / heads) + 1}-${(i % heads) + 1}`;
    if (map.cost[i] === null) return `${name}: has no part in it`;
    const p = map.p[i] === null ? "" : ` · corrected p ${map.p[i] < 0.001 ? "< 0.001" : map.p[i].toFixed(3)}`;
    return `${name} · cost ${map.said[i]} ${map.unit}${p}`;
  };
  const show = (i) => readout.replaceChildren(element("b", describe(i)), document.createElement("br"), element("span", map.about, { className: "muted" }));
  const grid = headGrid(root.querySelector(".grid"), layers, heads, show);

  function draw() {
    const most = Math.max(...map.cost.map((cost) => Math.abs(cost ?? 0))) || 1;
    grid.cells.forEach((cell, i) => {
      const cost = map.cost[i], fraction = cost === null ? 0 : Math.abs(cost) / most;
      fill(cell, cost, cost < 0 ? 0 : fraction, describe(i), map.p[i] !== null && map.p[i] < 0.05 && "specialised");
      if (cost < 0) cell.style.setProperty("--cell", `color-mix(in oklab, var(--wrong) ${(100 * fraction).toFixed(1)}%, var(--ramp0))`);
      cell.classList.toggle("high", fraction > 0.55);
      cell.textContent = cost === null ? "–" : compact(cost, most);
      cell.tabIndex = i === grid.focus ? 0 : -1;
    });
    const helps = map.cost.some((cost) => cost < 0);
    root.querySelector(".scale").classList.toggle("costs", helps);
    low.textContent = `${compact(helps ? -most : 0, most)} ${map.unit}`;
    high.textContent = `${compact(most, most)} ${map.unit}`;
    show(grid.focus);
  }

  choice.append(...maps.map((one, i) => element("option", one.title, { value: i })));
  choice.addEventListener("change", () => { map = maps[choice.value]; draw(); });
  draw();
}
document.querySelectorAll("[data-costs]").forEach(costMap);
