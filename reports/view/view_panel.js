/* One model on one text: the grid of its heads, and one of them large. */
const THUMBNAIL = 46, MOST_LINES = 3000, LABELLED = 64;
const headName = ({ layer, head }) => `${layer + 1}-${head + 1}`;
const headAt = (name) => { const [layer, head] = name.split("-").map((part) => Number(part) - 1); return { layer, head }; };
const count = (number) => number.toLocaleString("en-US");

class Panel {
  constructor(told) {
    this.told = told;
    this.root = $("panel").content.firstElementChild.cloneNode(true);
    this.loaded = new Map();
    this.kept = this.shown = this.key = this.maps = null;
    this.part(".model").textContent = told.model;
    const overlay = this.part(".matrix svg");
    overlay.addEventListener("pointermove", (event) => this.pointAt(event));
    overlay.addEventListener("pointerleave", () => point(this, null));
  }
  part(selector) { return this.root.querySelector(selector); }
  get index() { return page.head.layer * this.view.heads + page.head.head; }
  get longest() { return Math.max(this.maps.n, this.maps.m); }
  get lit() { return this.shown ?? this.kept; }
  dropped(query, key) { return page.hide && this.maps.special(query, key); }

  async show() {
    const view = this.told.views[page.view], level = page.pieces ? "pieces" : "words";
    const source = view[level].weights ? level : "words", stored = `${page.view} ${source}`;
    this.wanted = `${page.view} ${level}`;
    const wanted = this.wanted;
    if (!this.loaded.has(stored)) this.loaded.set(stored, unpacked(view[source].weights));
    const bytes = await this.loaded.get(stored);
    if (this.wanted !== wanted) return;
    this.view = view;
    this.maps = new Maps(view[level], bytes);
    this.kept = this.shown = this.key = null;
    this.part(".text").textContent = view.text;
    this.part(".text").classList.toggle("long", view.text.length > 140);
    this.part(".pair").classList.toggle("long", this.longest > 22);
    this.part(".pair").classList.toggle("matrix-first", this.longest > LABELLED);
    this.root.classList.toggle("known", Object.keys(this.roles).length > 0);
    this.grid();
    this.thumbnails();
    this.words();
    this.choose();
  }

  grid() {
    const { layers, heads } = this.view, grid = this.part(".grid"), caption = (text) => make("span", {}, text);
    grid.style.gridTemplateColumns = `18px repeat(${heads}, minmax(18px, ${THUMBNAIL}px))`;
    grid.replaceChildren(...["", ...Array.from({ length: heads }, (_, i) => i + 1)].map((text) => caption(`${text}`)));
    this.buttons = [];
    for (let layer = 0; layer < layers; layer += 1) {
      grid.append(caption(`${layer + 1}`));
      for (let head = 0; head < heads; head += 1) grid.append(this.button({ layer, head }));
    }
    const counted = data.marks.map((mark, i) => [mark, Object.values(this.roles).filter(([main]) => main === i).length]);
    this.part(".legend").replaceChildren(...counted.filter(([, heads]) => heads).map(([mark, heads]) =>
      make("li", {}, badge(mark), word(mark.label), " ", word(mark.probe), `, ${heads} ${heads === 1 ? "head" : "heads"}`)));
  }
  get roles() { return this.view.known ? this.told.roles : {}; }
  button(place) {
    const role = this.roles[headName(place)], mark = data.marks[role?.[0]];
    const said = `head ${headName(place)}${role ? `: ${isolated(role[1])}` : ""}`;
    const button = make("button", { type: "button", role: "radio", title: said, "aria-label": said }, make("canvas"));
    if (mark) {
      button.append(badge(mark));
      button.classList.add(`role-${mark.colour}`);
    }
    button.addEventListener("click", () => choose(place));
    this.buttons.push(button);
    return button;
  }
  thumbnails() {
    const table = colours(Math.sqrt);
    this.buttons.forEach((button, head) => paint(button.firstChild, this.maps, head, table, { most: THUMBNAIL }));
  }

  words() {
    const { maps } = this;
    this.row = maps.n > 22 ? 19 : 23;
    this.part(".lines").style.setProperty("--row", `${this.row}px`);
    this.from = maps.queries.map((text, query) => {
      const kind = maps.kind("queries", query);
      const button = make("button", { type: "button", dir: "auto", class: kind, title: text, tabindex: query ? -1 : 0 }, text);
      button.addEventListener("pointerenter", () => point(this, query));
      button.addEventListener("pointerleave", () => point(this, null));
      button.addEventListener("focus", () => point(this, query));
      button.addEventListener("blur", () => point(this, null));
      button.addEventListener("click", () => keep(this, query));
      return button;
    });
    this.part(".from").replaceChildren(...this.from.map((button) => make("li", {}, button)));
    this.part(".to").replaceChildren(...maps.keys.map((text, key) =>
      make("li", { dir: "auto", title: text, class: maps.kind("keys", key) }, text)));
  }
  lines() {
    const { maps, row, index } = this, drawing = this.part(".lines svg"), found = [];
    for (let query = 0; query < maps.n; query += 1) {
      for (let key = 0; key < maps.m; key += 1) {
        const w = maps.weight(index, query, key);
        if (w >= Math.max(page.least, 0.004) && !this.dropped(query, key)) found.push([w, query, key]);
      }
    }
    const drawn = found.sort((a, b) => b[0] - a[0]).slice(0, MOST_LINES);
    this.part(".most").textContent = drawn.length < found.length ? ` · the ${count(MOST_LINES)} strongest of ${count(found.length)} lines` : "";
    drawing.style.height = `${row * this.longest}px`;
    const across = drawing.clientWidth, y = (i) => row * (i + 0.5);
    drawing.replaceChildren(...drawn.map(([w, query, key]) => {
      const d = `M0 ${y(query)}C${across / 2} ${y(query)} ${across / 2} ${y(key)} ${across} ${y(key)}`;
      const path = svg("path", { d, "stroke-width": (0.6 + 4 * w).toFixed(2), "stroke-opacity": (0.18 + 0.8 * w).toFixed(2), "data-query": query });
      path.append(svg("title", {}, `${isolated(maps.queries[query])} → ${isolated(maps.keys[key])}: ${percent(w)}`));
      return path;
    }));
  }

  matrix() {
    const { maps } = this, room = this.part(".matrix").parentElement.clientWidth;
    const labelled = this.longest <= LABELLED, widest = Math.max(...[...maps.queries, ...maps.keys].map((text) => [...text].length));
    const left = labelled ? Math.min(150, 18 + 8 * widest) : 2, top = left;
    const cell = labelled ? Math.max(10, Math.min(22, Math.floor((room - left - 30) / maps.m))) : Math.max(2, Math.floor((room - 4) / maps.m));
    this.board = { left, top, cell };
    const canvas = this.part(".matrix canvas"), overlay = this.part(".matrix svg");
    paint(canvas, maps, this.index, colours((part) => part), { dropped: (query, key) => this.dropped(query, key) });
    Object.assign(canvas.style, { left: `${left}px`, top: `${top}px`, width: `${cell * maps.m}px`, height: `${cell * maps.n}px` });
    overlay.setAttribute("width", left + cell * maps.m + (labelled ? 30 : 2));
    overlay.setAttribute("height", top + cell * maps.n + 4);
    overlay.replaceChildren(svg("rect", { class: "frame", x: left - 1, width: cell * maps.m + 1, height: cell + 1, y: -100 }));
    if (!labelled) return;
    const style = `font-size:${Math.min(13, cell - 1)}px`, fit = (text) => isolated([...text].length > 18 ? `${[...text].slice(0, 17).join("")}…` : text);
    maps.queries.forEach((text, i) => overlay.append(svg("text", { x: left - 6, y: top + cell * (i + 0.5), "text-anchor": "end", class: maps.kind("queries", i), style }, fit(text))));
    maps.keys.forEach((text, i) => overlay.append(svg("text", { transform: `translate(${left + cell * (i + 0.5)} ${top - 6}) rotate(-60)`, class: maps.kind("keys", i), style }, fit(text))));
  }
  pointAt(event) {
    if (!this.board) return;
    const { left, top, cell } = this.board, box = event.currentTarget.getBoundingClientRect();
    const query = Math.floor((event.clientY - box.top - top) / cell), key = Math.floor((event.clientX - box.left - left) / cell);
    const inside = query >= 0 && key >= 0 && query < this.maps.n && key < this.maps.m;
    if (inside || this.shown !== null) point(this, inside ? query : null, inside ? key : null);
  }

  highlight() {
    const { maps, index, lit, key, board } = this;
    if (!this.exists) return;
    this.root.querySelectorAll(".lines path").forEach((path) => path.classList.toggle("dim", lit !== null && Number(path.dataset.query) !== lit));
    this.from.forEach((button, query) => button.setAttribute("aria-pressed", query === this.kept));
    this.part(".frame").setAttribute("y", lit === null ? -100 : board.top + board.cell * lit - 1);
    if (lit === null) { this.part(".said").textContent = "Point at a word to see where it attends."; return; }
    const weights = maps.keys.map((text, i) => [maps.weight(index, lit, i), text]);
    const best = [...weights].sort((a, b) => b[0] - a[0]).slice(0, 5).filter(([w]) => w >= 0.005);
    const told = [word(maps.queries[lit]), " attends to ", ...best.flatMap(([w, text], i) => [i ? ", " : "", word(text), ` ${percent(w)}`])];
    if (key !== null) told.push("; pointed at: ", word(weights[key][1]), ` ${percent(weights[key][0])}`);
    this.part(".said").replaceChildren(...told);
  }

  where() {
    this.part(".where").replaceChildren(...Object.entries(this.view.where).map(([kind, shares]) => {
      const box = make("div", {}, make("b", {}, percent(shares[this.index])), ` to ${kind}`, make("i"));
      box.lastChild.style.setProperty("--part", shares[this.index]);
      return box;
    }));
  }
  role() {
    const role = this.roles[headName(page.head)], mark = data.marks[role?.[0]];
    const nothing = this.exists && this.root.classList.contains("known") ? "The run tells nothing of this head." : "";
    this.part(".role").replaceChildren(...(mark ? [badge(mark)] : []), role ? word(role[1]) : nothing);
    this.part(".roles").hidden = !role;
    const line = (cells, tag) => make("tr", {}, ...cells.map((cell) => make(tag, { dir: "auto" }, cell)));
    if (role) this.part("table").replaceChildren(line(data.columns, "th"), ...role[2].map((row) => line(row, "td")));
  }

  choose(focus = false) {
    if (!this.maps) return;
    const { layers, heads } = this.view, { layer, head } = page.head;
    this.exists = layer < layers && head < heads;
    this.root.classList.toggle("missing", !this.exists);
    this.buttons.forEach((button, i) => {
      const chosen = this.exists && i === this.index;
      button.setAttribute("aria-checked", chosen);
      button.tabIndex = chosen || (!this.exists && i === 0) ? 0 : -1;
      if (chosen && focus) button.focus({ preventScroll: true });
    });
    this.part(".name").textContent = `Head ${headName(page.head)}${this.exists ? "" : ` is not in this one, of ${layers} layers of ${heads} heads`}`;
    this.draw();
  }
  draw() {
    this.role();
    if (!this.exists) return;
    this.shown = this.key = null;
    this.lines();
    this.matrix();
    this.where();
    this.highlight();
  }
}
