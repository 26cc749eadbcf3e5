
/* The matrix of all pairs: the upper triangle in whole thousandths, drawn so that a strong colour is alike. */
function headPairs(root) {
  const { heads, measures } = JSON.parse(root.querySelector("script").textContent), count = heads.length;
  const canvas = root.querySelector("canvas"), context = canvas.getContext("2d"), readout = root.querySelector(".readout");
  const [measure, order] = ["measure", "order"].map((name) => root.querySelector(`[data-role=${name}]`));
  const [low, , high] = root.querySelector(".scale").children;
  const pixels = Math.max(1, Math.floor(1008 / count));
  let shown = [];
  const place = (i, j) => { const [a, b] = i < j ? [i, j] : [j, i]; return a * count - (a * (a + 1)) / 2 + b - a - 1; };
  const number = (thousandths) => thousandths === null ? "–" : (thousandths / 1000).toFixed(3);
  const mixed = (stops, part) => {
    const half = part < 0.5 ? 0 : 1, rest = part * 2 - half;
    return `rgb(${stops[half].map((from, i) => Math.round(from + (stops[half + 1][i] - from) * rest)).join(" ")})`;
  };
  const stops = () => {
    const style = getComputedStyle(document.documentElement);
    return [0, 1, 2].map((i) => style.getPropertyValue(`--ramp${i}`).trim().match(/^#(..)(..)(..)$/).slice(1).map((hex) => parseInt(hex, 16)));
  };
  function draw() {
    const [name, values] = measures[measure.value], known = values.filter((value) => value !== null);
    const least = Math.min(...known), most = Math.max(...known), near = name.startsWith("maps"), ramp = stops();
    shown = heads.map((_, i) => i);
    if (order.value === "group") shown.sort((i, j) => heads[i][1] - heads[j][1] || i - j);
    canvas.width = canvas.height = count * pixels;
    context.clearRect(0, 0, canvas.width, canvas.height);
    shown.forEach((i, y) => shown.forEach((j, x) => {
      const value = values[place(i, j)];
      if (i === j || value === null) return;
      const part = most > least ? (value - least) / (most - least) : 0;
      context.fillStyle = mixed(ramp, near ? 1 - part : part);
      context.fillRect(x * pixels, y * pixels, pixels, pixels);
    }));
    low.textContent = number(near ? most : least);
    high.textContent = number(near ? least : most);
  }
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect(), at = (from, size, to) => shown[Math.min(count - 1, Math.max(0, Math.floor((to - from) / size * count)))];
    const i = at(box.top, box.height, event.clientY), j = at(box.left, box.width, event.clientX);
    const said = ([name, group, role]) => `${name}${role ? ` (${role})` : ""}, group ${group}`;
    const value = i === j ? "the same head" : number(measures[measure.value][1][place(i, j)]);
    readout.textContent = `${said(heads[i])} and ${said(heads[j])}: ${value}`;
  });
  measure.append(...measures.map(([name], i) => element("option", name, { value: i })));
  measure.addEventListener("change", draw);
  order.addEventListener("change", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}
document.querySelectorAll("[data-pairs]").forEach(headPairs);
