// Small parts of every view.

import { h } from "./elements.js";
import { moment, percent } from "./texts.js";

export const when = (ms) => h("time", { datetime: new Date(ms).toISOString() }, moment(ms));

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

export function chip(state) {
  const [kind, sign] = STATES[state] || ["calm", "○"];
  return h("span", { class: `chip ${kind}` }, h("span", { "aria-hidden": "true" }, sign), ` ${state}`);
}

export function tile(label, value, note, title) {
  return h(
    "div",
    { class: "tile", title },
    h("dt", {}, label),
    h("dd", {}, h("b", {}, value), note ? h("small", {}, note) : null),
  );
}

export function table(label, heads, rows, attributes) {
  const cell = (content, head) => h("td", { class: head.number ? "number" : null, "data-label": head.name }, content);
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    h(
      "table",
      attributes || {},
      h(
        "thead",
        {},
        h("tr", {}, ...heads.map((each) => h("th", { scope: "col", class: each.number ? "number" : null }, each.name))),
      ),
      h(
        "tbody",
        {},
        ...rows.map((row) =>
          h("tr", { "data-key": row.key, class: row.kind }, ...row.cells.map((content, i) => cell(content, heads[i]))),
        ),
      ),
    ),
  );
}

// A bar of shares: busy, held back, waiting for the engine, and idle in the rest.
export function shares({ busy, held, engine }, label) {
  const text = `${label ? `${label}: ` : ""}busy ${percent(busy)}, held back ${percent(held)}, engine ${percent(engine)}`;
  const left = 1 - Math.min(1, busy);
  return h(
    "span",
    { class: "shares", role: "img", "aria-label": text, title: text },
    h("span", { class: "busy", style: { width: `${100 * Math.min(1, busy)}%` } }),
    h("span", { class: "held", style: { width: `${100 * Math.min(left, held)}%` } }),
    h("span", { class: "engine", style: { width: `${100 * Math.min(Math.max(0, left - held), engine)}%` } }),
  );
}

export const legend = () =>
  h(
    "p",
    { class: "legend" },
    h("span", {}, h("i", { class: "busy" }), "busy"),
    h("span", {}, h("i", { class: "held" }), "held back"),
    h("span", {}, h("i", { class: "engine" }), "engine"),
    h("span", {}, h("i", { class: "idle" }), "idle"),
  );

export function say(text, kind = "calm") {
  const place = document.getElementById("status");
  const note = h(
    "div",
    { class: `toast ${kind}` },
    h("span", {}, text),
    h(
      "button",
      { type: "button", class: "quiet", "aria-label": "Dismiss this message", onclick: () => note.remove() },
      "✕",
    ),
  );
  place.append(note);
  if (kind !== "bad") setTimeout(() => note.remove(), 15000);
}
