
/* One number a head at a time, from 0 on: importance, or gates. What it says of a head is in the data. */
function gateMap(root) {
  const { layers, heads, maps } = JSON.parse(root.querySelector("script").textContent);
  const choice = root.querySelector("[data-role=map]"), readout = root.querySelector(".readout");
  const [low, , high] = root.querySelector(".scale").children;
  let map = maps[0];

  const describe = (i) => `Head ${Math.floor(i / heads) + 1}-${(i % heads) + 1} · ${map.said[i]}`;
  const show = (i) => readout.replaceChildren(element("b", describe(i)), document.createElement("br"), element("span", map.about, { className: "muted" }));
  const grid = headGrid(root.querySelector(".grid"), layers, heads, show);

  function draw() {
    const most = Math.max(...map.value) || 1;
    grid.cells.forEach((cell, i) => {
      fill(cell, map.value[i], map.value[i] / most, describe(i));
      cell.textContent = compact(map.value[i], most);
      cell.tabIndex = i === grid.focus ? 0 : -1;
    });
    low.textContent = "0";
    high.textContent = `${compact(most, most)} ${map.unit}`;
    show(grid.focus);
  }

  choice.append(...maps.map((one, i) => element("option", one.title, { value: i })));
  choice.addEventListener("change", () => { map = maps[choice.value]; draw(); });
  draw();
}
document.querySelectorAll("[data-gates]").forEach(gateMap);
