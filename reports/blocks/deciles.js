
/* All heads on any two measures; the head that is chosen here or in the grid shows its deciles. */
function decilePlane(root) {
  const { heads, measures, descriptions, columns, deciles, strongest } = JSON.parse(root.querySelector("script").textContent);
  const [across, up, find, table] = ["x", "y", "find", "deciles"].map((name) => root.querySelector(`[data-role=${name}]`));
  const readout = root.querySelector(".readout"), output = root.querySelector("output");
  const width = 560, height = 340, edge = 46, space = "http://www.w3.org/2000/svg";
  const drawn = (tag, attributes, text = "") => {
    const made = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    return made;
  };
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "All heads on two measures" });
  root.querySelector(".cloud").append(svg);
  const texts = heads.map((name, i) => [descriptions[i], ...(deciles[name]?.[0] ?? [])].join(" ").toLowerCase());
  let dots = [], chosen = heads[0];

  const scale = (values, from, to) => {
    const known = values.filter((value) => value !== null), least = Math.min(...known), most = Math.max(...known);
    return [(value) => from + (most > least ? (value - least) / (most - least) : 0.5) * (to - from), least, most];
  };
  const light = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = heads.map((_, i) => words.every((word) => texts[i].includes(word)));
    dots.forEach((dot, i) => { dot?.classList.toggle("out", !fits[i]); dot?.classList.toggle("current", heads[i] === chosen); });
    output.textContent = words.length ? `${fits.filter(Boolean).length} of ${heads.length} heads` : `${heads.length} heads`;
  };
  const show = (name) => {
    if (!heads.includes(name)) return;
    chosen = name;
    const i = heads.indexOf(name), [x, y] = [measures[across.value], measures[up.value]];
    readout.replaceChildren(element("b", `Head ${name}`), ` · ${descriptions[i]} · ${x.title}: ${x.values[i] ?? "–"} · ${y.title}: ${y.values[i] ?? "–"}`);
    table.replaceChildren(element("caption", `Deciles of head ${name}; most attention: ${strongest[name] ?? "–"}`));
    table.createTHead().insertRow().append(...columns.map((title) => element("th", title, { scope: "col" })));
    const body = table.createTBody();
    for (const cells of deciles[name] ?? []) body.insertRow().append(...cells.map((cell) => element("td", cell)));
    light();
  };
  const pick = (name) => { show(name); document.dispatchEvent(new CustomEvent("choose", { detail: name })); };

  function draw() {
    const [x, y] = [measures[across.value], measures[up.value]];
    const [toX, leastX, mostX] = scale(x.values, edge, width - 12), [toY, leastY, mostY] = scale(y.values, height - edge, 12);
    svg.replaceChildren(
      drawn("line", { x1: edge, x2: width - 12, y1: height - edge + 8, y2: height - edge + 8 }),
      drawn("line", { x1: edge - 8, x2: edge - 8, y1: 12, y2: height - edge }),
      drawn("text", { x: edge, y: height - 22 }, leastX), drawn("text", { x: width - 12, y: height - 22, "text-anchor": "end" }, mostX),
      drawn("text", { x: (edge + width) / 2, y: height - 6, "text-anchor": "middle" }, x.title),
      drawn("text", { x: edge - 12, y: height - edge, "text-anchor": "end" }, leastY), drawn("text", { x: edge - 12, y: 20, "text-anchor": "end" }, mostY),
      drawn("text", { x: edge, y: 8 }, y.title),
    );
    dots = heads.map((name, i) => {
      if (x.values[i] === null || y.values[i] === null) return null;
      const dot = drawn("circle", { cx: toX(x.values[i]), cy: toY(y.values[i]), r: 5, tabindex: 0, role: "button", "aria-label": `Head ${name}` });
      dot.append(drawn("title", {}, `Head ${name}: ${descriptions[i]}`));
      dot.addEventListener("click", () => pick(name));
      dot.addEventListener("keydown", (event) => { if (["Enter", " "].includes(event.key)) { event.preventDefault(); pick(name); } });
      svg.append(dot);
      return dot;
    });
    show(chosen);
  }

  for (const [choice, first] of [[across, 1], [up, 0]]) {
    choice.append(...measures.map((one, i) => element("option", one.title, { value: i })));
    choice.value = first;
    choice.addEventListener("change", draw);
  }
  find.addEventListener("input", light);
  document.addEventListener("head", ({ detail }) => show(detail));
  draw();
}
document.querySelectorAll("[data-deciles]").forEach(decilePlane);
