"use strict";
// Elements, texts and requests. Nothing here, or anywhere on this page, turns text into markup: names of jobs and
// texts of errors only ever become text nodes and attributes.

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

const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);

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
  old.slice(fresh.length).forEach((rest) => rest.remove());
}

const keyOf = (node) => (node.getAttribute ? node.getAttribute("data-key") : null);

function adopt(node, wanted) {
  const stays = node.nodeName === "DETAILS" ? "open" : node.nodeName === "INPUT" ? "value" : null;
  for (const { name } of [...node.attributes])
    if (name !== stays && !wanted.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of wanted.attributes)
    if (name !== stays && node.getAttribute(name) !== value) {
      if (name === "style") node.style.cssText = value; // the policy of the page refuses the attribute
      else node.setAttribute(name, value);
    }
  for (const name of HANDLERS) node[name] = wanted[name];
}

function show(place, content) {
  const wanted = place.cloneNode(false);
  wanted.append(...[content].flat());
  morph(place, wanted);
}

// -- texts --------------------------------------------------------------------------------------------------------

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

const count = (n) => (n === null || n === undefined || Number.isNaN(n) ? "–" : whole.format(n));
const brief = (n) => {
  if (n === null || n === undefined || Number.isNaN(n)) return "–";
  return n > 0 && n < 10 ? String(Math.round(n * 10) / 10) : short.format(n);
};
const percent = (share) => (share === null ? "–" : `${Math.round(share * 100)} %`);

function bytes(n) {
  if (n === null || n === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) {
    n /= 1024;
    unit += 1;
  }
  return `${unit && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}

function span(ms) {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return "–";
  if (ms < 0) return `−${span(-ms)}`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60) % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const two = (n) => String(n).padStart(2, "0");
function clock(ms) {
  const at = new Date(ms);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
function moment(ms) {
  const at = new Date(ms);
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${clock(ms)}`;
}
const when = (ms) => h("time", { datetime: new Date(ms).toISOString() }, moment(ms));
const ago = (ms) => `${span(Math.max(0, Date.now() - ms))} ago`;

const sum = (values) => values.reduce((all, value) => all + value, 0);

// How far the busiest subtask is above the average, in percent: 0 if all do the same.
function skewOf(values) {
  const average = sum(values) / values.length;
  return values.length > 1 && average > 0 ? Math.round((100 * Math.max(...values)) / average - 100) : null;
}

// -- requests -----------------------------------------------------------------------------------------------------

class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// The server gives the key to the page when the address with its token is opened. It accepts it together with a cookie.
function takeKey() {
  const given = /^#key=([\w-]+)/.exec(location.hash);
  if (given) {
    localStorage.setItem("key", given[1]);
    history.replaceState(null, "", location.pathname);
  }
}

async function ask(path, method = "GET", body = undefined) {
  const headers = { Accept: "application/json", "Flintstream-Key": localStorage.getItem("key") || "" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const reply = await fetch(`v1${path}`, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
  });
  const told = await reply.json().catch(() => null);
  if (!reply.ok) throw new Refused(reply.status, told && told.errors ? told.errors.join("\n") : reply.statusText);
  return told;
}

// -- small parts --------------------------------------------------------------------------------------------------

const STATES = {
  RUNNING: ["good", "●"],
  CREATED: ["calm", "○"],
  FINISHED: ["done", "✓"],
  CANCELED: ["calm", "■"],
  CANCELLING: ["calm", "■"],
  RESTARTING: ["warn", "↻"],
  FAILED: ["bad", "✕"],
  LOST: ["bad", "?"],
  UNKNOWN: ["warn", "?"],
  COMPLETED: ["good", "✓"],
};

function chip(state) {
  const [kind, sign] = STATES[state] || ["calm", "○"];
  return h("span", { class: `chip ${kind}` }, h("span", { "aria-hidden": "true" }, sign), ` ${state}`);
}

function tile(label, value, note, title) {
  return h(
    "div",
    { class: "tile", title },
    h("dt", {}, label),
    h("dd", {}, h("b", {}, value), note ? h("small", {}, note) : null),
  );
}

function table(label, heads, rows, attributes) {
  const cell = (content, head) => h("td", { class: head.number ? "number" : null, "data-label": head.name }, content);
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    h(
      "table",
      attributes || {},
      h("thead", {}, h("tr", {}, ...heads.map((each) => h("th", { scope: "col", class: each.number ? "number" : null }, each.name)))),
      h("tbody", {}, ...rows.map((row) => h("tr", { "data-key": row.key, class: row.kind }, ...row.cells.map((content, i) => cell(content, heads[i]))))),
    ),
  );
}

// A bar of shares: busy, held back, and idle in the rest.
function shares(busy, held, label) {
  const text = `${label ? `${label}: ` : ""}busy ${percent(busy)}, held back ${percent(held)}`;
  return h(
    "span",
    { class: "shares", role: "img", "aria-label": text, title: text },
    h("span", { class: "busy", style: { width: `${100 * Math.min(1, busy)}%` } }),
    h("span", { class: "held", style: { width: `${100 * Math.min(1 - Math.min(1, busy), held)}%` } }),
  );
}

const legend = () =>
  h(
    "p",
    { class: "legend" },
    h("span", {}, h("i", { class: "busy" }), "busy"),
    h("span", {}, h("i", { class: "held" }), "held back"),
    h("span", {}, h("i", { class: "idle" }), "idle"),
  );

function say(text, kind = "calm") {
  const place = document.getElementById("status");
  const note = h("div", { class: `toast ${kind}` }, h("span", {}, text), h("button", { type: "button", class: "quiet", "aria-label": "Close this message", onclick: () => note.remove() }, "✕"));
  place.append(note);
  if (kind !== "bad") setTimeout(() => note.remove(), 15000);
}
