
/* Biographies: a slider over checkpoints. Numbers are whole tenths of a percent, null where nothing was measured. */
function lifeView(root) {
  const data = JSON.parse(root.querySelector("script").textContent), { layers, heads, maps } = data;
  const role = (name) => root.querySelector(`[data-role=${name}]`);
  const [label, variant, seed, column, slider, play] = ["label", "variant", "seed", "column", "step", "play"].map(role);
  const grid = root.querySelector(".grid"), readout = root.querySelector(".readout"), output = root.querySelector("output");
  const [low, , high] = root.querySelector(".scale").children;
  let map = maps[0], life = map.seeds[0], cells = [], focus = 0, timer = 0;

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

  function frame() {
    grid.createTHead().insertRow().append(element("th", ""), ...Array.from({ length: heads }, (_, head) => element("th", head + 1, { scope: "col" })));
    const body = grid.createTBody();
    for (let layer = 0; layer < layers; layer += 1) {
      const row = body.insertRow();
      row.append(element("th", layer + 1, { scope: "row" }));
      for (let head = 0; head < heads; head += 1) {
        const i = cells.length, cell = row.insertCell();
        cell.setAttribute("role", "gridcell");
        cell.addEventListener("pointerenter", () => show(i));
        cell.addEventListener("focus", () => { focus = i; show(i); });
        cells.push(cell);
      }
    }
    grid.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads, ArrowDown: heads }[event.key];
      if (move === undefined) return;
      event.preventDefault();
      const next = focus + move, wraps = Math.abs(move) === 1 && Math.floor(next / heads) !== Math.floor(focus / heads);
      if (next < 0 || next >= cells.length || wraps) return;
      cells[focus].tabIndex = -1;
      cells[next].tabIndex = 0;
      cells[next].focus();
    });
  }

  /* One scale for all steps of a label, so that colours can be compared while the slider moves. */
  function range() {
    if (column.value === "accuracy") return [0, 1000];
    const values = life.accuracy.flatMap((row, place) => row.map((_, i) => at(i, place)[column.value])).filter((v) => v !== null);
    return [0, Math.max(100, ...values)];
  }

  const best = () => cells.reduce((most, _, i) => (at(i).accuracy ?? -1) > (at(most).accuracy ?? -1) ? i : most, 0);

  function draw() {
    const [from, to] = range(), framed = best();
    cells.forEach((cell, i) => {
      const value = at(i)[column.value], fraction = value === null ? 0 : Math.min(Math.max((value - from) / (to - from), 0), 1);
      cell.textContent = value === null ? "–" : (value / 10).toFixed(0).replace("-0", "0").replace("-", "−");
      cell.title = describe(i);
      cell.setAttribute("aria-label", describe(i));
      cell.tabIndex = i === focus ? 0 : -1;
      cell.className = [value === null && "none", fraction > 0.55 && "high", i === framed && "selected"].filter(Boolean).join(" ");
      cell.style.setProperty("--cell", value === null ? "transparent" : colour(fraction));
    });
    const signed = column.value === "accuracy" ? (v) => `${percent(v)} %` : sign;
    low.textContent = column.value === "accuracy" ? signed(from) : "0 or less";
    high.textContent = signed(to);
    output.textContent = `step ${step()}`;
    slider.setAttribute("aria-valuetext", `step ${step()}`);
    show(focus);
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
    focus = best();
    draw();
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
  }

  frame();
  label.append(...[...new Set(maps.map((one) => one.label))].map((text) => element("option", text, { value: text })));
  label.value = map.label;
  slider.max = life.steps.length - 1;
  slider.value = slider.max;
  choose();
  for (const select of [label, variant, seed]) select.addEventListener("change", choose);
  column.addEventListener("change", draw);
  slider.addEventListener("input", draw);
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
