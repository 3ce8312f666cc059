// Elements of the page. Nothing here, or anywhere on this page, turns text into markup: names of jobs and texts of errors
// only ever become text nodes and attributes.

const SVG = "http://www.w3.org/2000/svg";
const HANDLERS = ["onclick", "oninput", "onchange", "onsubmit", "onkeydown", "onpointermove", "onpointerleave"];

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node[name] = value;
    else if (name === "style") Object.assign(node.style, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);

// Make the children of one element those of another, and leave alone what is the same: focus, selection, scroll
// positions and open details survive.
function morph(node, wanted) {
  const old = [...node.childNodes];
  const fresh = [...wanted.childNodes];
  fresh.forEach((next, index) => {
    const before = old[index];
    if (!before) node.append(next);
    else if (before.nodeType !== next.nodeType || before.nodeName !== next.nodeName || keyOf(before) !== keyOf(next))
      before.replaceWith(next);
    else if (next.nodeType === Node.TEXT_NODE) {
      if (before.data !== next.data) before.data = next.data;
    } else {
      adopt(before, next);
      morph(before, next);
    }
  });
  for (const rest of old.slice(fresh.length)) rest.remove();
}

const keyOf = (node) => (node.getAttribute ? node.getAttribute("data-key") : null);

function adopt(node, wanted) {
  const stays = node.nodeName === "DETAILS" ? "open" : node.nodeName === "INPUT" ? "value" : null;
  for (const { name } of [...node.attributes])
    if (name !== stays && !wanted.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of wanted.attributes)
    if (name !== stays && node.getAttribute(name) !== value) {
      if (name === "style")
        node.style.cssText = value; // the policy of the page refuses the attribute
      else node.setAttribute(name, value);
    }
  for (const name of HANDLERS) node[name] = wanted[name];
}

export function show(place, content) {
  const wanted = place.cloneNode(false);
  wanted.append(...[content].flat());
  morph(place, wanted);
}
