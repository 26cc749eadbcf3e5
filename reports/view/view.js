/* The page: one head is chosen in all panels, one text of the chooser is shown in all. */
const data = JSON.parse($("data").textContent);
const page = { head: headAt(data.first), view: 0, pieces: false, hide: false, least: 0.04 };
const badge = ({ letter, colour }) => make("b", { class: `badge role-${colour}`, "aria-hidden": "true" }, letter);

/* Panels whose queries are the same words point at the same one. */
const twins = (panel) => panels.filter((other) => panel.maps && other.maps && other.maps.queries.join("\n") === panel.maps.queries.join("\n"));
function point(panel, query, key = null) {
  for (const other of twins(panel)) {
    other.shown = query;
    other.key = other === panel ? key : null;
    other.highlight();
  }
}
function keep(panel, query) {
  const kept = panel.kept === query ? null : query;
  for (const other of twins(panel)) {
    other.kept = kept;
    other.highlight();
  }
}

function choose(head, focused = null) {
  page.head = head;
  for (const panel of panels) panel.choose(panel === focused);
  if (location.hash !== `#${headName(head)}`) history.replaceState(null, "", `#${headName(head)}`);
}
function fromHash() {
  const { layer, head } = headAt(location.hash.slice(1));
  const has = data.panels.some(({ views }) => views.some((view) => layer >= 0 && head >= 0 && layer < view.layers && head < view.heads));
  choose(has && Number.isInteger(layer) && Number.isInteger(head) ? { layer, head } : page.head);
}
function draw() {
  $("leastsaid").textContent = `${$("least").value} %`;
  page.least = $("least").value / 100;
  page.hide = $("hide").checked;
  for (const panel of panels) if (panel.maps) panel.draw();
}
function show() {
  page.view = Number($("view")?.value ?? 0);
  page.pieces = $("pieces").checked;
  for (const panel of panels) panel.show();
}
function repaint() {
  for (const panel of panels) {
    if (!panel.maps) continue;
    panel.thumbnails();
    if (panel.exists) { panel.matrix(); panel.highlight(); }
  }
}

/* Left and right go from head to head, up and down from layer to layer, or from word to word in a list of words. */
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input[type=range], select")) return;
  const item = event.target.closest(".from li"), focused = panels.find((panel) => panel.root.contains(event.target));
  event.preventDefault();
  if (item && step[0]) {
    const next = step[0] > 0 ? item.nextElementSibling : item.previousElementSibling;
    if (!next) return;
    event.target.tabIndex = -1;
    next.firstChild.tabIndex = 0;
    next.firstChild.focus();
    return;
  }
  const { view } = focused ?? panels[0], layer = page.head.layer + step[0], head = page.head.head + step[1];
  const inGrid = event.target.closest(".grid");
  if (layer >= 0 && head >= 0 && layer < view.layers && head < view.heads) choose({ layer, head }, inGrid ? focused : null);
});
addEventListener("hashchange", fromHash);
addEventListener("resize", () => { for (const panel of panels) if (panel.maps && panel.exists) { panel.lines(); panel.matrix(); panel.highlight(); } });
for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", repaint);
for (const id of ["hide", "least"]) $(id).addEventListener("input", draw);
for (const id of ["view", "pieces"]) $(id)?.addEventListener("change", show);

const panels = data.panels.map((told) => new Panel(told));
$("panels").append(...panels.map((panel) => panel.root));
$("panels").classList.toggle("several", panels.length > 1);
fromHash();
draw();
if ("DecompressionStream" in window) show();
else $("panels").textContent = "This page needs a newer browser: it unpacks its numbers with DecompressionStream, which came in 2023.";
