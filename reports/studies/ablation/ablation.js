
/* Costs of ablation: blue where the model does worse without a head, the colour of wrong answers where it does better. */
function costOf(map, i) {
  if (map.cost[i] === null) return ": has no part in it";
  const p = map.p[i] === null ? "" : ` · corrected p ${map.p[i] < 0.001 ? "< 0.001" : map.p[i].toFixed(3)}`;
  return ` · cost ${map.text[i]} ${map.unit}${p}`;
}

function paintCosts(scale, map, cells, said) {
  const most = Math.max(...map.cost.map((cost) => Math.abs(cost ?? 0))) || 1;
  cells.forEach((cell, i) => {
    const cost = map.cost[i], fraction = cost === null ? 0 : Math.abs(cost) / most;
    fill(cell, cost, cost < 0 ? 0 : fraction, said(i), map.p[i] !== null && map.p[i] < 0.05 && "specialised");
    if (cost < 0) cell.style.setProperty("--cell", `color-mix(in oklab, var(--wrong) ${(65 * fraction).toFixed(1)}%, var(--ramp0))`);
    cell.textContent = cost === null ? "–" : compact(cost, most);
  });
  const helps = map.cost.some((cost) => cost < 0);
  scale.classList.toggle("costs", helps);
  return [`${compact(helps ? -most : 0, most)} ${map.unit}`, `${compact(most, most)} ${map.unit}`];
}
document.querySelectorAll("[data-costs]").forEach((root) => chosenMap(root, costOf, paintCosts.bind(null, root.querySelector(".scale"))));
