
/* Charts: Vega draws one when it comes near the screen, and all of them before the page is printed. Its expressions are
   interpreted (ast), since the page forbids code made of text. */
const chartLook = (() => {
  const font = getComputedStyle(document.body).fontFamily, small = { labelFont: font, labelFontSize: 11, labelColor: "var(--muted)", titleFont: font, titleFontSize: 11.5, titleFontWeight: "normal", titleColor: "var(--ink)" };
  return {
    aria: false, background: "transparent", font, padding: 2,
    mark: { aria: false },
    view: { stroke: null },
    axis: { ...small, domain: false, ticks: false, grid: true, gridColor: "var(--line)", labelPadding: 6, titlePadding: 6 },
    axisX: { grid: false, labelOverlap: "greedy", labelFlush: false },
    legend: { ...small, labelColor: "var(--muted)", labelLimit: 340, columnPadding: 14, rowPadding: 3, offset: 10 },
    text: { font, fontSize: 11.5, color: "var(--ink)" },
  };
})();

/* What is chosen in one place is chosen everywhere: the field of a chart's data, the event that asks the page to choose,
   and the one by which the page says what was chosen. */
const chosenOnPage = { head: ["choose", "head"], step: ["step", "step"] }, lastChosen = {};
for (const [field, [, was]] of Object.entries(chosenOnPage)) document.addEventListener(was, ({ detail }) => { lastChosen[field] = detail; });

/* Vega is unpacked when the first chart is drawn, or a second after the page has opened, so that print finds it. */
let vega;
const withVega = () => vega ??= unpackedText(document.getElementById("vega").textContent).then((text) => document.head.append(element("script", text)));

async function drawChart(root) {
  if (root.dataset.chart) return;
  root.dataset.chart = "drawing";
  await withVega();
  const spec = JSON.parse(root.querySelector("script").textContent);
  vegaEmbed(root.querySelector(".drawing"), spec, { mode: "vega-lite", ast: true, renderer: "svg", actions: false, defaultStyle: false, config: chartLook, tooltip: { disableDefaultStyle: true, id: "chart-told" } }).then(({ view }) => {
    for (const [field, [please, was]] of Object.entries(chosenOnPage)) {
      view.addEventListener("click", (_, item) => {
        if (item?.datum?.[field] !== undefined) document.dispatchEvent(new CustomEvent(please, { detail: item.datum[field] }));
      });
      if (spec.params?.some((param) => param.name === field)) {
        const follow = (value) => view.signal(field, value).runAsync();
        if (field in lastChosen) follow(lastChosen[field]);
        document.addEventListener(was, ({ detail }) => follow(detail));
      }
    }
    /* the window may have become narrower or wider while the chart was folded and had no width */
    new ResizeObserver(() => { if (view.container().clientWidth && view.width() <= 0) dispatchEvent(new Event("resize")); }).observe(view.container());
    root.dataset.chart = "drawn";
  });
}
{
  const charts = [...document.querySelectorAll("[data-chart]")];
  const near = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => { near.unobserve(entry.target); drawChart(entry.target); }), { rootMargin: "600px" });
  charts.forEach((chart) => near.observe(chart));
  addEventListener("beforeprint", () => charts.forEach(drawChart));
  setTimeout(withVega, 1000);
}
