/* Numbers and colours: what a file holds of a head's maps, and how it is painted. */
const $ = (id) => document.getElementById(id);
const svg = (tag, attributes = {}, text = "") => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
};
const make = (tag, attributes = {}, ...inside) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
};
const word = (text) => make("bdi", {}, text);
/* Where no element can be, marks keep a word's direction to itself. */
const isolated = (text) => `\u2068${text}\u2069`;
const percent = (w) => w > 0 && w < 0.005 ? "< 1 %" : `${Math.round(100 * w)} %`;

class Maps {
  constructor(level, bytes) {
    this.bytes = bytes;
    this.queries = level.queries.tokens;
    this.keys = level.keys.tokens;
    this.n = this.queries.length;
    this.m = this.keys.length;
    this.specialQueries = new Set(level.queries.special);
    this.specialKeys = new Set(level.keys.special);
    this.second = { queries: level.queries.second, keys: level.keys.second };
  }
  byte(head, query, key) { return this.bytes[(head * this.n + query) * this.m + key]; }
  weight(head, query, key) { return this.byte(head, query, key) / 255; }
  /* What a word is beside others: a special token, or of the second text of a pair. */
  kind(side, i) {
    if ((side === "keys" ? this.specialKeys : this.specialQueries).has(i)) return "special";
    return this.second[side] && i >= this.second[side] ? "second" : "";
  }
  special(query, key) { return this.specialQueries.has(query) || this.specialKeys.has(key); }
}

/* The colours of the 256 steps between two of the style sheet's, as pixels. */
function colours(curve) {
  const [low, high] = ["--ramp0", "--ramp1"].map((ramp) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(ramp).trim().slice(1);
    return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
  });
  const table = new Uint8ClampedArray(4 * 256);
  for (let step = 0; step < 256; step += 1) {
    for (let c = 0; c < 3; c += 1) table[4 * step + c] = low[c] + curve(step / 255) * (high[c] - low[c]);
    table[4 * step + 3] = 255;
  }
  return new Uint32Array(table.buffer);
}

/* One pixel a cell; where there are more than `most` to a side, a pixel is the strongest of a block of them. */
function paint(canvas, maps, head, table, { most = 1e9, dropped = () => false } = {}) {
  const block = Math.ceil(Math.max(maps.n, maps.m) / most);
  canvas.width = Math.ceil(maps.m / block);
  canvas.height = Math.ceil(maps.n / block);
  const steps = new Uint8Array(canvas.width * canvas.height);
  for (let query = 0; query < maps.n; query += 1) {
    const row = Math.floor(query / block) * canvas.width;
    for (let key = 0; key < maps.m; key += 1) {
      const at = row + Math.floor(key / block), step = dropped(query, key) ? 0 : maps.byte(head, query, key);
      if (step > steps[at]) steps[at] = step;
    }
  }
  const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  steps.forEach((step, i) => { pixels[i] = table[step]; });
  context.putImageData(image, 0, 0);
}
