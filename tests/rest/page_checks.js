// What a test asks of the page: names of everything that can be used, and contrast of all text (WCAG 2, level AA).

function nameless() {
  const label = (e) => e.id && document.querySelector(`label[for=${e.id}]`)?.innerText;
  const name = (e) => (e.getAttribute("aria-label") || e.innerText || label(e) || "").trim();
  const used = [...document.querySelectorAll("button, a, input, select, [role=img], [role=region]")];
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  const found = ids.filter((id, i) => ids.indexOf(id) !== i);
  if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
  return [...used.filter((e) => !name(e)).map((e) => e.outerHTML), ...found];
}

function rgba(text) {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
}

function luminance(colour) {
  const [r, g, b] = colour
    .slice(0, 3)
    .map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function ground(element) {
  for (let e = element; e; e = e.parentElement) {
    const colour = rgba(getComputedStyle(e).backgroundColor);
    if (colour[3] === 255) return colour;
  }
  return [255, 255, 255];
}

function faint() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    const hidden = ["SCRIPT", "STYLE", "NOSCRIPT", "title"].includes(e.nodeName) || !e.checkVisibility();
    if (hidden || !node.data.trim()) continue;
    const style = getComputedStyle(e);
    const both = [luminance(rgba(e.ownerSVGElement ? style.fill : style.color)), luminance(ground(e))];
    const ratio = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    if (ratio < 4.5) found.push(`${node.data.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return found;
}
