// The view of a job: what it does now, and tabs with the rest.

import { cancel, rescale, savepoint, stop } from "./actions.js";
import { h } from "./elements.js";
import { graph } from "./graph.js";
import { lives } from "./overview.js";
import { chip, tile, when } from "./parts.js";
import { epochs, rates } from "./samples.js";
import { checkpoints, configuration, curves, exceptions, log, state } from "./tabs.js";
import { ago, brief, clock, count, span } from "./texts.js";

export const TABS = [
  ["graph", "Graph", graph],
  ["curves", "Metrics", curves],
  ["checkpoints", "Checkpoints", checkpoints],
  ["exceptions", "Exceptions", exceptions],
  ["state", "State", state],
  ["configuration", "Configuration", configuration],
  ["log", "Log", log],
];

export function view(job) {
  const { record, samples } = job;
  const status = record.status;
  const running = lives(record);
  document.title = `${record.name}: ${status.state.toLowerCase()}`;
  const last = samples[samples.length - 1];
  const speed = (part) => {
    const found = rates(samples.slice(-6), (each) => each[part]);
    return running && found.length ? `${brief(found[found.length - 1][1])}/s` : "–";
  };
  const done = [...(record.checkpoints.history || [])].reverse().find((each) => each.status === "COMPLETED");
  const [, , draw] = TABS.find(([id]) => id === job.tab);
  return [
    h(
      "div",
      { class: "jobhead" },
      h(
        "div",
        {},
        h("h1", {}, record.name, " ", chip(status.state)),
        h(
          "p",
          { class: "hint" },
          "started ",
          when(record.started_ms),
          record.ended_ms ? [", ended ", when(record.ended_ms)] : "",
          `, process ${record.pid} on ${record.host}`,
        ),
      ),
      running
        ? h(
            "div",
            { class: "actions" },
            h("button", { type: "button", onclick: () => savepoint(job) }, "Savepoint"),
            record.plan.batch ? null : h("button", { type: "button", onclick: () => rescale(job) }, "Rescale …"),
            h("button", { type: "button", onclick: () => stop(job) }, "Stop …"),
            h("button", { type: "button", class: "danger", onclick: () => cancel(job) }, "Cancel …"),
          )
        : null,
    ),
    h(
      "dl",
      { class: "tiles" },
      tile("In", speed("in"), `${brief(status.records_in)} records`),
      tile("Out", speed("out"), `${brief(status.records_out)} records`),
      tile(
        "Latency",
        last?.latency ? span(last.latency[0]) : "–",
        last?.latency ? `99 %: ${span(last.latency[1])}` : null,
        "from source to sink, median of the last epochs",
      ),
      tile(
        "Watermark",
        status.watermark === null
          ? "none"
          : Math.abs(status.watermark) > 8.64e15
            ? "end"
            : running
              ? span(Date.now() - status.watermark)
              : clock(status.watermark),
        status.watermark === null || !running ? null : "behind the clock",
      ),
      epochTile(record, samples),
      tile(
        "Checkpoints",
        count(status.checkpoints),
        done ? `last ${ago(done.at_ms)}, ${span(done.duration_ms)}` : null,
      ),
      tile(
        "Restarts",
        count(status.restarts),
        running ? `up ${span(record.metrics.totals.uptime)}` : `ran ${span(record.metrics.totals.uptime)}`,
      ),
    ),
    h(
      "div",
      { class: "tabs", role: "tablist", "aria-label": "Views of the job" },
      ...TABS.map(([id, name]) => tab(id, name, job)),
    ),
    h(
      "section",
      {
        id: "view",
        class: "view",
        role: "tabpanel",
        "aria-labelledby": `tab-${job.tab}`,
        "data-key": `${record.job_id}-${job.tab}`,
      },
      draw(job),
    ),
  ];
}

function epochTile(record, samples) {
  const found = epochs(samples.slice(-8));
  const told = record.metrics.epochs;
  if (!told?.count) return tile("Epoch", "–");
  const [work, waiting, engine] = found.length
    ? found[found.length - 1][1]
    : [told.last_ms.work, told.last_ms.waiting, told.last_ms.engine];
  const all = Object.entries(told.ways);
  const ways = all.length > 1 ? all.map(([way, n]) => `${brief(n)} ${way}`).join(", ") : all[0][0];
  return tile(
    "Epoch",
    span(work + waiting + engine),
    `work ${span(work)}, waiting ${span(waiting)}, engine ${span(engine)}; ${ways}`,
    "the average of the last epochs, its parts, and how all epochs ran",
  );
}

function tab(id, name, job) {
  const { record } = job;
  const chosen = id === job.tab;
  const number = id === "exceptions" ? record.exceptions.length : id === "checkpoints" ? record.checkpoints.failed : 0;
  return h(
    "a",
    {
      role: "tab",
      id: `tab-${id}`,
      href: `#/jobs/${record.job_id}/${id}`,
      "aria-selected": String(chosen),
      "aria-controls": chosen ? "view" : null,
      tabindex: chosen ? "0" : "-1",
      onkeydown: (event) => turn(event, job),
    },
    name,
    number
      ? h(
          "span",
          { class: "number badge", "aria-label": id === "exceptions" ? `${number} errors` : `${number} failed` },
          String(number),
        )
      : null,
  );
}

function turn(event, job) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const at = TABS.findIndex(([id]) => id === job.tab);
  const [id] = TABS[(at + step + TABS.length) % TABS.length];
  location.hash = `#/jobs/${job.id}/${id}`;
  setTimeout(() => document.getElementById(`tab-${id}`)?.focus(), 50);
}
