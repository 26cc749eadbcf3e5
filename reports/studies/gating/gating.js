
/* One number a head at a time, from 0 on: importance, or gates. What it says of a head is in the data. */
function paintGates(map, cells, said) {
  const most = Math.max(...map.value) || 1;
  cells.forEach((cell, i) => {
    fill(cell, map.value[i], map.value[i] / most, said(i));
    cell.textContent = compact(map.value[i], most);
  });
  return ["0", `${compact(most, most)} ${map.unit}`];
}
document.querySelectorAll("[data-gates]").forEach((root) => chosenMap(root, (map, i) => ` · ${map.text[i]}`, paintGates));
