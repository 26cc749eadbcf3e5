
/* Examples: one sentence at a time, with the arcs of the chosen head. Keys and weights are bytes in turn. */
function headsAtWork(root) {
  const data = JSON.parse(root.querySelector("script").textContent), { sentences, relations, roles } = data;
  const [headSelect, sentence, relation, least, ends, pieces] = ["head", "sentence", "relation", "least", "ends", "pieces"].map((name) => root.querySelector(`[data-role=${name}]`));
  const line = root.querySelector(".line"), list = line.querySelector("ol"), drawing = line.querySelector("svg");
  const readout = root.querySelector(".readout"), told = root.querySelector("tbody");
  const MAIN = "main", NONE = "none", RISE = 190;
  let head = "1-1", shown = null, kept = null, text = sentences[0];

  const share = (w) => w > 0 && w < 0.005 ? "< 1 %" : `${Math.round(100 * w)} %`;
  const word = (i) => i < text.words.length ? text.words[i] : text.ends[i - text.words.length];
  const isolated = (i) => `\u2068${word(i)}\u2069`;
  const rightOf = () => relation.value === NONE ? undefined : relation.value === MAIN ? roles[head] : Number(relation.value);

  /* What the head does with a word: its kept keys, the strongest first. */
  function row(query) {
    const [layer, place] = head.split("-").map(Number), n = text.words.length, { keys } = text;
    text.bytes ??= Uint8Array.from(atob(text.weights), (sign) => sign.charCodeAt(0));
    const from = (((layer - 1) * data.heads + place - 1) * n + query) * keys * 2;
    return Array.from({ length: keys }, (_, k) => ({ query, key: text.bytes[from + 2 * k], weight: text.bytes[from + 2 * k + 1] / 255 })).filter(({ weight }) => weight > 0);
  }

  function gold() {
    const pairs = text.gold[rightOf()] ?? [], found = new Map();
    for (let i = 0; i < pairs.length; i += 2) found.set(pairs[i], [...(found.get(pairs[i]) ?? []), pairs[i + 1]]);
    return found;
  }

  function write() {
    const n = text.words.length;
    const token = (i) => {
      const item = document.createElement("li"), made = document.createElement(i < n ? "button" : "span");
      made.append(element("bdi", word(i), { dir: "auto" }));
      if (i >= n) made.className = "end";
      else {
        made.type = "button";
        if (i >= text.second) made.className = "second";
        made.append(element("small", text.pieces[i].join(" ")));
        made.addEventListener("pointerenter", () => { shown = i; light(); });
        made.addEventListener("pointerleave", () => { shown = null; light(); });
        made.addEventListener("focus", () => { shown = i; light(); });
        made.addEventListener("blur", () => { shown = null; light(); });
        made.addEventListener("click", () => { kept = kept === i ? null : i; light(); });
      }
      made.dataset.word = i;
      item.append(made);
      return item;
    };
    const order = [n, ...text.words.keys(), n + 1].filter((i) => word(i) !== "");
    list.dir = /^\P{L}*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u.test(text.words.join(" ")) ? "rtl" : "ltr";
    list.replaceChildren(...order.map(token));
    shown = kept = null;
  }

  /* Along the words and up from them; on narrow screens words stand below one another and up is to the right. */
  function draw() {
    const n = text.words.length, right = gold(), floor = Number(least.value) / 100;
    const down = line.parentElement.clientWidth < 640;
    drawing.setAttribute("width", 0); // so that words take the room that they want
    line.classList.toggle("down", down);
    line.classList.toggle("cut", pieces.checked);
    const places = new Map([...list.querySelectorAll("[data-word]")].map((one) => [Number(one.dataset.word), one]));
    for (const [i, one] of places) {
      one.classList.toggle("asked", right.has(i));
      one.parentElement.hidden = i >= n && ends.checked;
    }
    const middle = (i) => { const one = places.get(i), box = one?.parentElement; return !box || box.hidden ? null : down ? box.offsetTop + box.offsetHeight / 2 : box.offsetLeft + box.offsetWidth / 2; };
    const arcs = text.words.flatMap((_, query) => row(query)).filter(({ weight }) => weight >= floor).map((arc) => ({ ...arc, kind: right.get(arc.query)?.includes(arc.key) ? "right" : "" }));
    const drawn = new Set(arcs.map(({ query, key }) => `${query} ${key}`));
    const missed = [...right].flatMap(([query, keys]) => keys.filter((key) => query < n && !drawn.has(`${query} ${key}`)).map((key) => ({ query, key, weight: 0, kind: "missed" })));
    const every = [...arcs, ...missed].map((arc) => ({ ...arc, from: middle(arc.query), to: middle(arc.key) })).filter(({ from, to }) => from !== null && to !== null);
    const most = down ? Math.max(60, line.clientWidth - list.offsetWidth - 30) : RISE;
    const rise = ({ from, to }) => { const far = Math.abs(to - from); return 14 + most * far / (far + 2 * most); };
    const height = Math.max(40, ...every.map(rise)) + 8;
    const at = (along, up) => down ? `${up.toFixed(1)} ${along.toFixed(1)}` : `${along.toFixed(1)} ${(height - up).toFixed(1)}`;
    const size = down ? [height, list.offsetHeight] : [list.offsetWidth, height];
    drawing.setAttribute("width", size[0]);
    drawing.setAttribute("height", size[1]);
    drawing.replaceChildren(...every.flatMap((arc) => {
      const side = arc.from === arc.to ? -5 : Math.sign(arc.to - arc.from) * 3.5, from = arc.from + side, to = arc.to - side, top = rise(arc) * 4 / 3;
      const strength = arc.kind === "missed" ? "" : `stroke-width:${(0.8 + 4.2 * arc.weight).toFixed(2)};stroke-opacity:${(0.15 + 0.85 * arc.weight).toFixed(2)}`;
      const tip = `M${at(to - 3.2, 7)}L${at(to + 3.2, 7)}L${at(to, 1)}Z`;
      return [[`M${at(from, 1)}C${at(from, top)} ${at(to, top)} ${at(to, 6)}`, arc.kind, strength], [tip, `tip ${arc.kind}`, `fill-opacity:${(0.25 + 0.75 * arc.weight).toFixed(2)}`]].filter(([, kind]) => kind !== "tip missed").map(([d, kind, style]) => shape("path", { d, class: kind, style, "data-query": arc.query }));
    }));
    tell(right);
    light();
  }

  /* The same in words. */
  function tell(right) {
    told.replaceChildren(...text.words.map((_, query) => {
      const [best] = row(query), made = document.createElement("tr"), mark = best && right.has(query) ? right.get(query).includes(best.key) ? "yes" : "no" : "";
      const cells = [word(query), best ? word(best.key) : "–", best ? share(best.weight) : "–", mark].map((said, i) => element(i ? "td" : "th", said, { dir: "auto", className: i === 2 ? "num" : "" }));
      made.append(...cells);
      return made;
    }));
  }

  function light() {
    const query = shown ?? kept, right = gold();
    for (const path of drawing.children) path.classList.toggle("dim", query !== null && Number(path.dataset.query) !== query);
    for (const one of list.querySelectorAll("button")) one.setAttribute("aria-pressed", Number(one.dataset.word) === kept);
    if (query !== null) {
      const keys = row(query).map(({ key, weight }) => `${isolated(key)} ${share(weight)}`).join(", ");
      const wanted = right.has(query) ? `; correct: ${right.get(query).map(isolated).join(", ")}` : "";
      readout.textContent = `${isolated(query)} attends to ${keys || "no stored key"}${wanted}`;
      return;
    }
    const asked = [...right.keys()].filter((one) => one < text.words.length), hits = asked.filter((one) => right.get(one).includes(row(one)[0]?.key));
    const main = rightOf();
    const found = main === undefined ? (relation.value === MAIN ? "it has no main role on these sentences, so no arcs are marked" : "no arcs are marked") : asked.length ? `${relations[main]}: the strongest key is correct for ${hits.length} of ${asked.length} words` : `${relations[main]}: this sentence has none`;
    readout.textContent = `Head ${head} · ${found}`;
  }

  /* Go to a sentence that has the relation, if this one has none. */
  function find() {
    const wanted = rightOf();
    if (wanted === undefined || text.gold[wanted]) return;
    const better = sentences.findIndex((one) => one.gold[wanted]);
    if (better >= 0) turn(better);
  }
  function turn(i) {
    text = sentences[i];
    sentence.value = i;
    write();
  }

  const option = (label, value) => element("option", label, { value });
  headSelect.append(...Array.from({ length: data.layers * data.heads }, (_, i) => { const name = `${Math.floor(i / data.heads) + 1}-${i % data.heads + 1}`; return option(name, name); }));
  sentence.append(...sentences.map((one, i) => { const said = [...one.words.map((word, at) => at === one.second ? `‖ ${word}` : word).join(" ")]; return option(`${i + 1}. ${said.slice(0, 70).join("")}${said.length > 70 ? "…" : ""} (${one.source})`, i); }));
  relation.append(option("the head’s main role", MAIN), option("nothing", NONE), ...relations.map(option));
  turn(0);
  document.addEventListener("head", ({ detail }) => { head = headSelect.value = detail; if (relation.value === MAIN) find(); draw(); });
  headSelect.addEventListener("change", () => document.dispatchEvent(new CustomEvent("choose", { detail: headSelect.value })));
  sentence.addEventListener("change", () => { turn(Number(sentence.value)); draw(); });
  relation.addEventListener("change", () => { find(); draw(); });
  const limit = () => { root.querySelector("output").textContent = `${least.value} %`; };
  least.addEventListener("input", () => { limit(); draw(); });
  for (const box of [ends, pieces]) box.addEventListener("change", draw);
  addEventListener("resize", draw);
  limit();
}
document.querySelectorAll("[data-attention]").forEach(headsAtWork);
