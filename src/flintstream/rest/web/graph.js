// The graph of a job: a column for each superstep, a button for each chain of operators, lines for exchanges.

import { h, s } from "./elements.js";
import { legend, shares, table } from "./parts.js";
import { now, skewOf, sum } from "./samples.js";
import { brief, bytes, count, moment, percent, span } from "./texts.js";

function load(job) {
  const found = job.record.ended_ms === null ? now(job.samples) : null;
  return job.record.plan.vertices.map((vertex, i) => {
    if (found?.[i] && found[i].length === vertex.parallelism) return found[i];
    return Array.from({ length: vertex.parallelism }, () => ({ in: null, out: null, busy: 0, held: 0, engine: 0 }));
  });
}

function operatorsOf(record, vertex) {
  return record.metrics.operators.filter((each) => each.vertex === vertex.id);
}

function totals(record, vertex) {
  const first = vertex.operators[0];
  const last = vertex.operators[vertex.operators.length - 1];
  const own = operatorsOf(record, vertex);
  const all = (name, metric) =>
    sum(own.filter((each) => each.operator === name).map((each) => Number(each.values[metric]) || 0));
  return { in: all(first.name, "numRecordsIn"), out: all(last.name, "numRecordsOut") };
}

export function graph(job) {
  const { record } = job;
  const loads = load(job);
  const vertices = record.plan.vertices;
  const running = record.ended_ms === null;
  const steps = [...new Set(vertices.map((each) => each.superstep))].sort((a, b) => a - b);
  const node = (vertex) => {
    const index = vertices.indexOf(vertex);
    const subtasks = loads[index];
    const source = !vertex.inputs.length;
    const sink = !vertices.some((each) => each.inputs.some((edge) => edge.id === vertex.id));
    const total = totals(record, vertex);
    const busy = sum(subtasks.map((each) => each.busy)) / subtasks.length;
    const held = sum(subtasks.map((each) => each.held)) / subtasks.length;
    const engine = sum(subtasks.map((each) => each.engine)) / subtasks.length;
    const worst = Math.max(...subtasks.map((each) => each.busy));
    const kind = held > 0.5 ? "hot held" : worst > 0.8 ? "hot" : "";
    const flow = (value, all) => (running && value !== null ? `${brief(value)}/s` : brief(all));
    const into = sum(subtasks.map((each) => each.in || 0));
    const out = sum(subtasks.map((each) => each.out || 0));
    const chosen = job.chosen === vertex.id;
    return h(
      "button",
      {
        type: "button",
        class: `vertex ${kind}${chosen ? " chosen" : ""}`,
        "data-key": vertex.id,
        "data-vertex": vertex.id,
        "aria-pressed": String(chosen),
        onclick: () => choose(job, chosen ? null : vertex.id),
      },
      h(
        "span",
        { class: "role" },
        source ? "source" : sink ? "sink" : "operators",
        h("span", { class: "width", title: "parallelism" }, `× ${vertex.parallelism}`),
      ),
      h(
        "span",
        { class: "operators" },
        ...vertex.operators.map((each) => h("span", {}, each.name.replaceAll("/", "/\u200b"))),
      ),
      h(
        "span",
        { class: "flow" },
        source ? null : h("span", { title: "records in" }, "in ", h("b", {}, flow(into, total.in))),
        sink && !source
          ? null
          : h("span", { title: "records out" }, "out ", h("b", {}, flow(out, source && !out ? total.in : total.out))),
      ),
      running ? shares({ busy, held, engine }, "average of the subtasks") : null,
    );
  };
  const columns = steps.map((step) =>
    h(
      "div",
      { class: "step", role: "group", "aria-label": `superstep ${step + 1}` },
      h("span", { class: "stepname" }, `superstep ${step + 1}`),
      ...vertices.filter((each) => each.superstep === step).map(node),
    ),
  );
  const place = h(
    "div",
    { class: "graph", "data-key": record.job_id },
    s("svg", { class: "edges", "aria-hidden": "true" }),
    ...columns,
  );
  const chosen = vertices.find((each) => each.id === job.chosen);
  return [
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Job graph" }, place),
    running ? legend() : null,
    chosen
      ? subtasks(job, chosen, loads[vertices.indexOf(chosen)])
      : h("p", { class: "hint" }, "Choose operators to see their subtasks."),
    exchanges(record),
  ];
}

function exchanges(record) {
  const names = new Map(record.plan.vertices.map((each) => [each.id, each.name]));
  const rows = record.plan.vertices.flatMap((vertex) =>
    vertex.inputs.map((edge, i) => ({
      key: `${vertex.id}${i}`,
      cells: [names.get(edge.id), edge.ship_strategy, vertex.name],
    })),
  );
  if (!rows.length) return null;
  return h(
    "details",
    { class: "more" },
    h("summary", {}, `Exchanges as a table (${rows.length})`),
    table("Exchanges", [{ name: "From" }, { name: "How" }, { name: "To" }], rows),
  );
}

function choose(job, id) {
  job.chosen = id;
  job.redraw();
}

function subtasks(job, vertex, loads) {
  const { record } = job;
  const own = operatorsOf(record, vertex);
  const value = (subtask, metric) => {
    const found = own.filter((each) => each.subtask === subtask && metric in each.values);
    return found.length ? found[0].values[metric] : null;
  };
  const state = (subtask) =>
    sum(
      (record.checkpoints.state || [])
        .filter((each) => each.vertex === vertex.id)
        .map((each) => each.bytes[subtask] || 0),
    );
  const rows = loads.map((each, subtask) => {
    const mark = value(subtask, "currentInputWatermark") ?? value(subtask, "currentOutputWatermark");
    const known = typeof mark === "number" && Math.abs(mark) < 8.64e15;
    return {
      key: String(subtask),
      cells: [
        String(subtask + 1),
        brief(each.in),
        brief(each.out),
        h("span", { class: "withbar" }, shares(each, `subtask ${subtask + 1}`), percent(each.busy)),
        percent(each.held),
        percent(each.engine),
        count(value(subtask, "numRecordsIn") ?? value(subtask, "numRecordsOut")),
        known ? moment(mark) : mark !== null && mark > 0 ? "end" : "none yet",
        known && record.ended_ms === null ? span(Date.now() - mark) : "–",
        bytes(state(subtask)),
      ],
    };
  });
  const skew = skewOf(loads.map((_, i) => Number(value(i, "numRecordsIn") ?? value(i, "numRecordsOut")) || 0));
  const heads = [
    { name: "Subtask" },
    { name: "In/s", number: true },
    { name: "Out/s", number: true },
    { name: "Busy" },
    { name: "Held back", number: true },
    { name: "Engine", number: true },
    { name: "Records", number: true },
    { name: "Watermark" },
    { name: "Lag", number: true },
    { name: "State", number: true },
  ];
  return h(
    "section",
    { class: "panel", "aria-label": `Subtasks of ${vertex.name}`, "data-key": vertex.id },
    h("h3", {}, vertex.name),
    h(
      "p",
      { class: "hint" },
      skew === null
        ? loads.length > 1
          ? "No records yet."
          : "One subtask."
        : skew > 50
          ? h("strong", { class: "warn" }, `Skew: the busiest subtask has ${skew} % more records than the average.`)
          : `Skew: the busiest subtask has ${skew} % more records than the average.`,
    ),
    table(`Subtasks of ${vertex.name}`, heads, rows, { class: "cards" }),
    h("details", { class: "more" }, h("summary", {}, "All metrics"), metricsOf(record, vertex)),
  );
}

function metricsOf(record, vertex) {
  const rows = [];
  for (const each of [
    ...record.metrics.tasks
      .filter((task) => task.vertex === vertex.id)
      .map((task) => ({ ...task, operator: "(task)" })),
    ...operatorsOf(record, vertex),
  ])
    for (const [name, value] of Object.entries(each.values))
      rows.push({
        key: `${each.operator}${each.subtask}${name}`,
        cells: [
          each.operator,
          String(each.subtask + 1),
          name,
          typeof value === "number" ? count(value) : String(value),
        ],
      });
  return table(
    "Metrics",
    [{ name: "Operator" }, { name: "Subtask", number: true }, { name: "Metric" }, { name: "Value", number: true }],
    rows,
  );
}

// Lines from where buttons are; to be called when they are in the document.
export function connect(job) {
  const place = document.querySelector(".graph");
  if (!place) return;
  const box = place.getBoundingClientRect();
  const upright = getComputedStyle(place).flexDirection === "column";
  const at = new Map(
    [...place.querySelectorAll(".vertex")].map((each) => [each.dataset.vertex, each.getBoundingClientRect()]),
  );
  const steps = new Map(job.record.plan.vertices.map((each) => [each.id, each.superstep]));
  const labels = new Map();
  const parts = [];
  for (const vertex of job.record.plan.vertices)
    vertex.inputs.forEach((edge, number) => {
      if (!at.has(edge.id) || !at.has(vertex.id)) return;
      const [from, to] = [inside(at.get(edge.id), box), inside(at.get(vertex.id), box)];
      const shift = (number - (vertex.inputs.length - 1) / 2) * 14;
      const between = [...at]
        .filter(([id]) => steps.get(id) > steps.get(edge.id) && steps.get(id) < steps.get(vertex.id))
        .map(([, each]) => inside(each, box));
      const [line, x, y] = upright ? alongside(from, to, shift, parts.length + 1) : across(from, to, shift, between);
      parts.push(s("path", { d: line, "marker-end": "url(#arrow)" }));
      if (upright) return; // no room: see the table of exchanges
      const spot = `${Math.round(x / 40)},${Math.round(y / 24)}`;
      const used = labels.get(spot) || 0;
      labels.set(spot, used + 1);
      parts.push(s("text", { x, y: y - 5 + 13 * used, "text-anchor": "middle" }, edge.ship_strategy.toLowerCase()));
    });
  const svg = place.querySelector(".edges");
  svg.setAttribute("width", place.scrollWidth);
  svg.setAttribute("height", place.scrollHeight);
  svg.replaceChildren(
    s(
      "defs",
      {},
      s(
        "marker",
        { id: "arrow", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
        s("path", { d: "M0 0L8 4L0 8z" }),
      ),
    ),
    ...parts,
  );
}

const inside = (rect, box) => ({
  left: rect.left - box.left,
  right: rect.right - box.left,
  top: rect.top - box.top,
  bottom: rect.bottom - box.top,
  middle: (rect.top + rect.bottom) / 2 - box.top,
});

// A line from left to right, below or above what is between; and where its label is.
function across(from, to, shift, between) {
  const [x, y, u, v] = [from.right, from.middle, to.left - 5, to.middle + shift];
  if (!between.length) {
    const half = (x + u) / 2;
    return [`M${x} ${y}C${half} ${y} ${half} ${v} ${u} ${v}`, half, (y + v) / 2];
  }
  const [left, right] = [
    Math.min(...between.map((each) => each.left)) - 8,
    Math.max(...between.map((each) => each.right)) + 8,
  ];
  const [top, bottom] = [
    Math.min(...between.map((each) => each.top)) - 16,
    Math.max(...between.map((each) => each.bottom)) + 16,
  ];
  const lane =
    y > (top + bottom) / 2 ? Math.max(bottom, Math.min(y, bottom + 40)) : Math.min(top, Math.max(y, top - 40));
  const [one, other] = [(x + left) / 2, (right + u) / 2];
  return [
    `M${x} ${y}C${one} ${y} ${one} ${lane} ${left} ${lane}L${right} ${lane}C${other} ${lane} ${other} ${v} ${u} ${v}`,
    (left + right) / 2,
    lane,
  ];
}

// A line down the left side of a narrow window.
function alongside(from, to, shift, lane) {
  const x = Math.max(4, from.left - 6 - 6 * (lane % 4));
  return [`M${from.left} ${from.middle}H${x}V${to.middle + shift}H${to.left - 5}`];
}
