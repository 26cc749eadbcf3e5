/* Two grids of heads: what became of each, and which head of the other run it is held to be. */
function compared(root) {
  const told = JSON.parse(root.querySelector("script").textContent), readout = root.querySelector(".readout");
  const grids = told.map((one, side) => {
    const show = (i) => {
      const cell = one.cells[i];
      readout.textContent = cell ? cell.summary : "Not scored.";
      root.querySelectorAll(".selected").forEach((other) => other.classList.remove("selected"));
      grids[side].cells[i].classList.add("selected");
      if (cell?.to != null) grids[1 - side].cells[cell.to]?.classList.add("selected");
    };
    return headGrid(root.querySelectorAll("table")[side], one.layers, one.heads, show);
  });
  grids.forEach((grid, side) => grid.cells.forEach((cell, i) => {
    const one = told[side].cells[i];
    cell.tabIndex = i === 0 ? 0 : -1;
    cell.textContent = one?.sign ?? "";
    cell.className = one?.kind ?? "alone";
    cell.title = one?.summary ?? "";
    cell.setAttribute("aria-label", one?.summary ?? "Not scored.");
  }));
}
document.querySelectorAll("[data-compare]").forEach(compared);
