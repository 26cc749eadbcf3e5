
/* Biographies: a slider over checkpoints. Numbers are whole tenths of a percent, null where nothing was measured. */
function lifeView(root) {
  const data = JSON.parse(root.querySelector("script").textContent), { layers, heads, maps } = data;
  const role = (name) => root.querySelector(`[data-role=${name}]`);
  const [label, variant, seed, column, slider, play] = ["label", "variant", "seed", "column", "step", "play"].map(role);
  const readout = root.querySelector(".readout"), output = root.querySelector("output");
  const [low, , high] = root.querySelector(".scale").children;
  let map = maps[0], life = map.seeds[0], timer = 0;

  const name = (i) => `${Math.floor(i / heads) + 1}-${(i % heads) + 1}`;
  const sign = (tenths) => tenths === null ? "–" : `${tenths < 0 ? "−" : "+"}${(Math.abs(tenths) / 10).toFixed(1)}`;
  const minus = (a, b) => a === null || b === null ? null : a - b;
  const at = (i, place = Number(slider.value)) => {
    const accuracy = life.accuracy[place][i];
    return { accuracy, margin: minus(accuracy, map.baseline_accuracy), excess: minus(accuracy, life.accuracy[0][i]) };
  };
  const step = () => life.steps[Number(slider.value)].toLocaleString("en");
  const describe = (i) => {
    const { accuracy, margin, excess } = at(i);
    return `Head ${name(i)} at step ${step()} · accuracy ${percent(accuracy)} % · margin ${sign(margin)} · since step ${life.steps[0].toLocaleString("en")} ${sign(excess)}`;
  };
  const about = () => `${map.label}, ${map.variant} · ${map.baseline ? `${map.baseline} ${percent(map.baseline_accuracy)} %` : "no baseline"} · n\u00a0${map.n.toLocaleString("en")}`;
  const show = (i) => readout.replaceChildren(element("b", describe(i)), document.createElement("br"), element("span", about(), { className: "muted" }));

  const grid = headGrid(root.querySelector(".grid"), layers, heads, show);

  /* One scale for all steps of a label, so that colours can be compared while the slider moves. */
  function range() {
    if (column.value === "accuracy") return [0, 1000];
    const values = life.accuracy.flatMap((row, place) => row.map((_, i) => at(i, place)[column.value])).filter((v) => v !== null);
    return [0, Math.max(100, ...values)];
  }

  const best = () => grid.cells.reduce((most, _, i) => (at(i).accuracy ?? -1) > (at(most).accuracy ?? -1) ? i : most, 0);

  function draw() {
    const [from, to] = range(), framed = best();
    grid.cells.forEach((cell, i) => {
      const value = at(i)[column.value], fraction = value === null ? 0 : Math.min(Math.max((value - from) / (to - from), 0), 1);
      fill(cell, value, fraction, describe(i), i === framed && "selected");
      cell.tabIndex = i === grid.focus ? 0 : -1;
    });
    const signed = column.value === "accuracy" ? (v) => `${percent(v)} %` : sign;
    low.textContent = column.value === "accuracy" ? signed(from) : "0 or less";
    high.textContent = signed(to);
    output.textContent = `step ${step()}`;
    slider.setAttribute("aria-valuetext", `step ${step()}`);
    document.dispatchEvent(new CustomEvent("step", { detail: life.steps[Number(slider.value)] }));
    show(grid.focus);
  }

  function choose() {
    const offered = maps.filter((one) => one.label === label.value), wanted = variant.value, before = seed.value;
    map = offered.find((one) => one.variant === wanted) ?? offered[0];
    variant.replaceChildren(...offered.map((one) => element("option", one.variant, { value: one.variant })));
    variant.value = map.variant;
    seed.replaceChildren(...map.seeds.map((one) => element("option", one.seed, { value: one.seed })));
    life = map.seeds.find((one) => String(one.seed) === before) ?? map.seeds[0];
    seed.value = life.seed;
    slider.max = life.steps.length - 1;
    if (map.baseline_accuracy === null && column.value === "margin") column.value = "accuracy";
    grid.focus = best();
    draw();
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
  }

  label.append(...[...new Set(maps.map((one) => one.label))].map((text) => element("option", text, { value: text })));
  label.value = map.label;
  slider.max = life.steps.length - 1;
  slider.value = slider.max;
  choose();
  for (const select of [label, variant, seed]) select.addEventListener("change", choose);
  column.addEventListener("change", draw);
  slider.addEventListener("input", draw);
  document.addEventListener("step", ({ detail }) => {
    const place = life.steps.indexOf(detail);
    if (place < 0 || place === Number(slider.value)) return;
    slider.value = place;
    draw();
  });
  play.addEventListener("click", () => {
    if (timer) return stop();
    if (slider.value === slider.max) slider.value = 0;
    play.textContent = "Stop";
    play.setAttribute("aria-pressed", "true");
    draw();
    timer = setInterval(() => {
      slider.value = Number(slider.value) + 1;
      draw();
      if (slider.value === slider.max) stop();
    }, 600);
  });
}
document.querySelectorAll("[data-lives]").forEach(lifeView);
