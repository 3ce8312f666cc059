// Curves over time as SVG.

import { h, s } from "./elements.js";
import { bytes, clock, percent } from "./texts.js";

// Widths of the drawing: on a narrow page the same text needs more of it.
const CHART = {
  get width() {
    return innerWidth < 720 ? 350 : 560;
  },
  height: 170,
  left: 52,
  right: 10,
  top: 12,
  bottom: 24,
};

// Return round values that cover 0 to the largest one.
function ticks(most, unit = 1, wanted = 4) {
  if (!(most > 0)) return [0, unit];
  const raw = most / wanted;
  const size = unit * 10 ** Math.floor(Math.log10(raw / unit));
  const step = [1, 2, 5, 10].find((each) => each * size >= raw) * size;
  const found = [];
  for (let value = 0; value < most + step * 0.999; value += step) found.push(value);
  return found;
}

// Return fewer levels where several would have the same text, such as 0 ms, 0 ms, 1 ms.
function levelsOf(most, unit, format) {
  const tries = [4, 3, 2, 1].map((wanted) => ticks(most, unit, wanted));
  return tries.find((levels) => new Set(levels.map(format)).size === levels.length) || tries[3];
}

function timeTicks(from, until) {
  const steps = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400, 604800].map(
    (each) => each * 1000,
  );
  const step = steps.find((each) => (until - from) / each <= 5) || steps[steps.length - 1];
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= until; at += step) found.push(at);
  return found;
}

// A chart of one or more series: {name, points: [[ms, value or null], ...]}. `marks` are {at, sign, text}.
export function chart({ title, series, format, marks = [], range = null }) {
  const points = series.flatMap((each) => each.points).filter((each) => each[1] !== null);
  const last = series.map((each) => {
    const known = each.points.filter((point) => point[1] !== null);
    return known.length ? known[known.length - 1][1] : null;
  });
  const heading = h(
    "figcaption",
    {},
    h("span", { class: "name" }, title),
    ...series.map((each, i) =>
      h(
        "span",
        { class: "key" },
        h("i", { class: `line${i}` }),
        `${each.name} `,
        h("b", {}, last[i] === null ? "–" : format(last[i])),
      ),
    ),
  );
  if (points.length < 2)
    return h("figure", { class: "chart", "data-key": title }, heading, h("p", { class: "empty" }, "No samples yet."));
  const from = range ? range[0] : Math.min(...points.map((each) => each[0]));
  const until = range ? range[1] : Math.max(...points.map((each) => each[0]));
  const most = Math.max(format === percent ? 0.01 : 0, ...points.map((each) => each[1])); // else all levels are 0 %
  const levels = levelsOf(most, format === bytes ? 1024 ** Math.floor(Math.log2(Math.max(1, most)) / 10) : 1, format);
  const top = levels[levels.length - 1];
  const x = (ms) => CHART.left + ((CHART.width - CHART.left - CHART.right) * (ms - from)) / Math.max(1, until - from);
  const y = (value) =>
    CHART.height - CHART.bottom - ((CHART.height - CHART.top - CHART.bottom) * Math.max(0, value)) / top;
  const told = series.map((each, i) => `${each.name} ${last[i] === null ? "unknown" : format(last[i])}`).join(", ");
  const drawing = s(
    "svg",
    { viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: "img", "aria-label": `${title}, now: ${told}` },
    s(
      "g",
      { class: "grid" },
      ...levels.map((level) => [
        s("line", { x1: CHART.left, x2: CHART.width - CHART.right, y1: y(level), y2: y(level) }),
        s("text", { x: CHART.left - 6, y: y(level) + 4, "text-anchor": "end" }, format(level)),
      ]),
    ),
    s(
      "g",
      { class: "grid" },
      ...timeTicks(from, until).map((at) =>
        s("text", { x: x(at), y: CHART.height - 6, "text-anchor": "middle" }, clock(at)),
      ),
    ),
    s(
      "g",
      { class: "marks" },
      ...marks
        .filter(({ at }) => at >= from && at <= until)
        .map(({ at, sign, text }) =>
          s(
            "g",
            {},
            s("line", { x1: x(at), x2: x(at), y1: CHART.top, y2: CHART.height - CHART.bottom }),
            s("text", { x: x(at) + 3, y: CHART.top + 8 }, sign),
            s("title", {}, `${text} at ${clock(at)}`),
          ),
        ),
    ),
    ...series.map((each, i) => s("path", { class: `line line${i}`, d: path(each.points, x, y) })),
    s("g", { class: "cursor" }),
  );
  drawing.onpointermove = (event) => point(event, drawing, series, { x, y, from, until, format });
  drawing.onpointerleave = () => drawing.querySelector(".cursor").replaceChildren();
  return h("figure", { class: "chart", "data-key": title }, heading, drawing);
}

function path(points, x, y) {
  let text = "";
  let on = false;
  for (const [at, value] of points) {
    if (value === null) on = false;
    else {
      text += `${on ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      on = true;
    }
  }
  return text;
}

function point(event, drawing, series, { x, y, from, until, format }) {
  const box = drawing.getBoundingClientRect();
  const share = ((event.clientX - box.left) / box.width) * CHART.width;
  const at = from + ((share - CHART.left) / (CHART.width - CHART.left - CHART.right)) * (until - from);
  const near = series.map((each) =>
    each.points.reduce(
      (best, next) => (next[1] !== null && (!best || Math.abs(next[0] - at) < Math.abs(best[0] - at)) ? next : best),
      null,
    ),
  );
  const found = near.find((each) => each);
  if (!found) return;
  const place = x(found[0]);
  const right = place > CHART.width * 0.6;
  const lines = [clock(found[0]), ...near.map((each, i) => `${series[i].name} ${each ? format(each[1]) : "–"}`)];
  drawing
    .querySelector(".cursor")
    .replaceChildren(
      s("line", { x1: place, x2: place, y1: CHART.top, y2: CHART.height - CHART.bottom }),
      ...near.map((each, i) =>
        each ? s("circle", { class: `line${i}`, cx: x(each[0]), cy: y(each[1]), r: 3.5 }) : s("g", {}),
      ),
      s(
        "g",
        {},
        ...lines.map((line, i) =>
          s(
            "text",
            { x: place + (right ? -8 : 8), y: CHART.top + 12 + 14 * i, "text-anchor": right ? "end" : "start" },
            line,
          ),
        ),
      ),
    );
}
