
/* All heads on any two measures; the head that is chosen here or in the grid shows its deciles. */
function decilePlane(root) {
  const { heads, measures, descriptions, columns, deciles, strongest } = JSON.parse(root.querySelector("script").textContent);
  const [find, table] = ["find", "deciles"].map((name) => root.querySelector(`[data-role=${name}]`));
  const readout = root.querySelector(".readout"), output = root.querySelector("output");
  const texts = heads.map((name, i) => [descriptions[i], ...(deciles[name]?.[0] ?? [])].join(" ").toLowerCase());
  let chosen = heads[0];

  const tell = (i) => {
    const numbers = scatter.axes.map((one) => ` · ${one.title}: ${one.values[i] ?? "–"}`);
    readout.replaceChildren(element("b", `Head ${heads[i]}`), ` · ${descriptions[i]}`, ...numbers);
  };
  const light = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = heads.map((_, i) => words.every((word) => texts[i].includes(word)));
    scatter.dots.forEach((dot, i) => dot?.classList.toggle("out", !fits[i]));
    output.textContent = words.length ? `${fits.filter(Boolean).length} of ${heads.length} heads` : `${heads.length} heads`;
  };
  const show = (name) => {
    if (!heads.includes(name)) return;
    chosen = name;
    tell(heads.indexOf(name));
    table.replaceChildren(element("caption", `Deciles of head ${name}; most attention: ${strongest[name] ?? "–"}`));
    table.createTHead().insertRow().append(...columns.map((title) => element("th", title, { scope: "col" })));
    const body = table.createTBody();
    for (const cells of deciles[name] ?? []) body.insertRow().append(...cells.map((cell) => element("td", cell)));
    scatter.mark(heads.indexOf(name), "current");
    light();
  };
  const pick = (name) => { show(name); document.dispatchEvent(new CustomEvent("choose", { detail: name })); };
  const scatter = headScatter(root, heads, measures, [1, 0], (i) => tell(i ?? heads.indexOf(chosen)), pick);

  root.addEventListener("drawn", () => show(chosen));
  find.addEventListener("input", light);
  document.addEventListener("head", ({ detail }) => show(detail));
  scatter.draw();
}
document.querySelectorAll("[data-deciles]").forEach(decilePlane);
