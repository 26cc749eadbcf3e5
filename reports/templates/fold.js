/* Sections fold at a button beside their heading. */
function fold(section, folded) {
  section.classList.toggle("folded", folded);
  section.querySelector(".fold")?.setAttribute("aria-expanded", String(!folded));
}
for (const section of document.querySelectorAll("main > section[id]:not(#opening)")) {
  const head = section.querySelector("h2"), button = document.createElement("button");
  if (!head || section.querySelector(":scope > h2 + details")) continue;
  button.type = "button";
  button.className = "fold";
  button.setAttribute("aria-label", `Section ${head.textContent}`);
  button.addEventListener("click", () => fold(section, !section.classList.contains("folded")));
  head.prepend(button);
  fold(section, "folded" in section.dataset);
}

/* A link unfolds what it leads to. */
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) {
    if (at.localName === "details") at.open = true;
    if (at.localName === "section") fold(at, false);
  }
  target?.querySelector(":scope > h2 + details")?.setAttribute("open", "");
  target?.scrollIntoView();
}
addEventListener("hashchange", reveal);
if (location.hash) reveal();

/* Print shows what is folded, also where a browser does not know ::details-content. */
const shut = [];
addEventListener("beforeprint", () => {
  shut.push(...document.querySelectorAll("details:not([open])"));
  for (const one of shut) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of shut.splice(0)) one.open = false;
});
