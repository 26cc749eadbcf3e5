
/* Shapes of maps: one number of every head at a time, in its own unit; null where nothing was measured. */
function shapeMap(root) {
  const { layers, heads, groups } = JSON.parse(root.querySelector("script").textContent);
  const [choice, stretch] = ["measure", "stretch"].map((name) => root.querySelector(`[data-role=${name}]`));
  const readout = root.querySelector(".readout"), [low, , high] = root.querySelector(".scale").children;
  const measures = groups.flatMap((group) => group.measures.map((one) => ({ ...one, group: group.title })));
  let shape = measures[0];

  const name = (i) => `${Math.floor(i / heads) + 1}-${(i % heads) + 1}`;
  const written = (value, digits = shape.digits) => value === null ? "–" : value.toFixed(digits).replace("-", "−");
  const describe = (i) => {
    const interval = shape.low[i] === null ? "" : ` [${written(shape.low[i])}, ${written(shape.high[i])}]`;
    const passed = shape.passed.includes(i) ? ` · significantly above ${shape.threshold}` : "";
    return `Head ${name(i)} · ${written(shape.value[i])}${shape.value[i] === null ? "" : ` ${shape.unit}`}${interval}${passed}`;
  };
  const about = () => `${shape.group}: ${shape.title} · uniform attention ${written(shape.even)} ${shape.unit} · n\u00a0${shape.n.toLocaleString("en")} ${shape.scope}s · clusters\u00a0${shape.clusters.toLocaleString("en")}`;
  const show = (i) => readout.replaceChildren(element("b", describe(i)), document.createElement("br"), element("span", about(), { className: "muted" }));

  const grid = headGrid(root.querySelector(".grid"), layers, heads, show);

  function draw() {
    const known = shape.value.filter((value) => value !== null), most = Math.max(...known), least = Math.min(...known);
    const whole = shape.unit === "%" ? 100 : Math.max(most, shape.even);
    const [from, to] = stretch.checked && most > least ? [least, most] : [0, whole || 1];
    grid.cells.forEach((cell, i) => {
      const value = shape.value[i], fraction = value === null ? 0 : (value - from) / (to - from);
      fill(cell, value, fraction, describe(i), shape.passed.includes(i) && "specialised");
      cell.textContent = written(value, shape.digits - 1);
      cell.tabIndex = i === grid.focus ? 0 : -1;
    });
    low.textContent = `${written(from)} ${shape.unit}`;
    high.textContent = `${written(to)} ${shape.unit}`;
    show(grid.focus);
  }

  for (const group of groups) {
    const options = element("optgroup", "", { label: group.title });
    options.append(...group.measures.map((one) => element("option", one.title, { value: measures.findIndex((other) => other.group === group.title && other.title === one.title) })));
    choice.append(options);
  }
  choice.addEventListener("change", () => { shape = measures[choice.value]; draw(); });
  stretch.addEventListener("change", draw);
  draw();
}
document.querySelectorAll("[data-shapes]").forEach(shapeMap);
