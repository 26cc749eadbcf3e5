"use strict";

/* What is large is packed: compressed by gzip, and its bytes written as text. */
async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
const unpackedText = async (text) => new TextDecoder().decode(await unpacked(text));

/* Run the scripts of a page once its data are unpacked; packed data are one string. */
async function whenUnpacked(run) {
  const main = document.querySelector("main"), packed = [...document.querySelectorAll("script[type='application/json']")].filter((script) => script.textContent.startsWith('"'));
  if (packed.length && !("DecompressionStream" in window)) {
    main.prepend("This page needs a newer browser: it unpacks its numbers with DecompressionStream, which came in 2023.");
    return;
  }
  main.ariaBusy = "true";
  await Promise.all(packed.map(async (script) => { script.textContent = await unpackedText(JSON.parse(script.textContent)); }));
  run();
  main.ariaBusy = null;
}
