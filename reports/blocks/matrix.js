
/* A number of every head at a time, in its own unit; null where there is none. Below 0 it has the colour of wrong answers. */
function matrix(root) {
  const written = (map, i) => map.value[i] === null ? "–" : compact(map.value[i], largest(map.value));
  const said = (map, i) => ` · ${map.text[i] ?? `${written(map, i)} ${map.unit}`}`;
  chosenMap(root, said, (map, cells, scale, stretched, describe) => paintNumber(cells, scale, map.value, map.unit, stretched, describe, map.marked));
  const choice = root.querySelector("[data-role=map]");
  choice.closest("label").hidden = choice.options.length < 2;
}
document.querySelectorAll("[data-matrix]").forEach(matrix);
