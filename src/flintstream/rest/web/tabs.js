// The other views of a job: curves, checkpoints, errors, state, configuration, log.

import { chart } from "./charts.js";
import { h } from "./elements.js";
import { chip, table, tile, when } from "./parts.js";
import { epochs, percentile, rates, skewOf, sum } from "./samples.js";
import { ago, brief, bytes, clock, count, percent, span } from "./texts.js";

export function curves(job) {
  const { record, samples } = job;
  const losses = record.status.losses || [];
  const marks = [
    ...record.exceptions.map((each) => ({ at: each.at_ms, sign: "↻", text: "failed" })),
    ...losses.map((each) => ({ at: each.at_ms, sign: "✕", text: `worker lost: it ${each.how}; ${each.then}` })),
  ];
  const spentPerEpoch = epochs(samples);
  const part = (name, which) => ({ name, points: spentPerEpoch.map(([at, parts]) => [at, which(parts)]) });
  const range = samples.length > 1 ? [samples[0].at_ms, samples[samples.length - 1].at_ms] : null;
  const draw = (title, series, format) => chart({ title, series, format, marks, range });
  const spent = (vertex, part) => ({
    name: record.plan.vertices[vertex].operators[0].name,
    points: rates(samples, (each) => Math.max(0, ...((each.vertices[vertex] || [])[part] || []))).map(([at, ms]) => [
      at,
      Math.min(1, ms / 1000),
    ]),
  });
  const known = record.plan.vertices.map((_, i) => i).filter((i) => samples.length && samples[0].vertices[i]);
  const sources = known.filter((i) => !record.plan.vertices[i].inputs.length);
  const latency = (which) => samples.map((each) => [each.at_ms, each.latency ? each.latency[which] : null]);
  return h(
    "div",
    { class: "charts" },
    draw(
      "Records per second",
      [
        { name: "in", points: rates(samples, (each) => each.in) },
        { name: "out", points: rates(samples, (each) => each.out) },
      ],
      brief,
    ),
    draw(
      "Latency, source to sink",
      [
        { name: "median", points: latency(0) },
        { name: "99 %", points: latency(1) },
      ],
      span,
    ),
    draw(
      "Epoch, average duration",
      [
        part("all", ([work, waiting, engine]) => work + waiting + engine),
        part("work", ([work]) => work),
        part("waiting", ([, waiting]) => waiting),
        part("engine", ([, , engine]) => engine),
      ],
      span,
    ),
    draw("Epochs in resident tasks", [part("share", (parts) => parts[3])], percent),
    draw(
      "Watermark lag",
      [
        {
          name: "lag",
          points: samples.map((each) => [
            each.at_ms,
            each.watermark === null ? null : Math.max(0, each.at_ms - each.watermark),
          ]),
        },
      ],
      span,
    ),
    draw(
      "Busiest subtask",
      known.slice(0, 6).map((i) => spent(i, 2)),
      percent,
    ),
    draw(
      "Sources held back",
      sources.slice(0, 6).map((i) => spent(i, 3)),
      percent,
    ),
    draw(
      "Checkpoints, duration",
      [
        {
          name: "last",
          points: (record.checkpoints.history || [])
            .filter((each) => each.status === "COMPLETED")
            .map((each) => [each.at_ms, each.duration_ms]),
        },
      ],
      span,
    ),
    chosenMetric(job, marks),
  );
}

// A metric of choice, since the page was opened.
function chosenMetric(job, marks) {
  const names = [...job.values.keys()].sort();
  const name = job.filters.metric || names.find((each) => each.endsWith("lastEpochDuration")) || names[0];
  const choice = h(
    "select",
    {
      "aria-label": "Metric",
      onchange: (event) => {
        job.filters.metric = event.target.value;
        job.redraw();
      },
    },
    ...names.map((each) => h("option", { value: each, selected: each === name }, each)),
  );
  const points = job.values.get(name) || [];
  return h(
    "div",
    { class: "choice" },
    h("label", { class: "tools" }, "Metric, sum of the subtasks since this page was opened ", choice),
    chart({ title: "Metric", series: [{ name: "value", points }], format: brief, marks }),
  );
}

export function checkpoints(job) {
  const told = job.record.checkpoints;
  const settings = told.settings || {};
  const entries = [...(told.history || [])].reverse();
  const kept = new Set(told.kept.map((each) => each.number));
  const done = entries.filter((each) => each.status === "COMPLETED");
  const last = done[0];
  const names = new Map(job.record.plan.vertices.map((each) => [each.id, each.name]));
  const rows = entries.map((each) => ({
    key: `${each.kind}${each.number}`,
    kind: each.status === "FAILED" ? "bad" : null,
    cells: [
      String(each.number),
      each.kind,
      h("span", {}, chip(each.status), each.reason ? h("p", { class: "reason" }, each.reason) : null),
      when(each.at_ms),
      each.status === "FAILED" ? "–" : span(each.duration_ms),
      each.status === "FAILED" ? "–" : bytes(each.bytes),
      each.status === "FAILED" ? "–" : bytes(each.new_bytes),
      each.status === "FAILED" ? "–" : count(each.pieces),
      each.status === "FAILED"
        ? ""
        : h(
            "details",
            {},
            h("summary", {}, each.kind === "savepoint" || kept.has(each.number) ? "kept" : "deleted"),
            h("code", { class: "path" }, each.path),
            parts(each, names),
          ),
    ],
  }));
  const heads = [
    { name: "No." },
    { name: "Kind" },
    { name: "Result" },
    { name: "Started" },
    { name: "Duration", number: true },
    { name: "State", number: true },
    { name: "Written", number: true },
    { name: "Pieces", number: true },
    { name: "Files" },
  ];
  return h(
    "div",
    {},
    h(
      "dl",
      { class: "tiles" },
      tile("Completed", count(told.completed)),
      tile("Failed", count(told.failed), null, `${count(settings.tolerable_failures)} in a row tolerated`),
      tile(
        "Interval",
        told.interval_ms === null ? "off" : span(told.interval_ms),
        settings.exactly_once === false ? "at least once" : "exactly once",
      ),
      tile("Latest", last ? ago(last.at_ms) : "–", last ? `${span(last.duration_ms)}, ${bytes(last.bytes)}` : null),
      tile("Backend", settings.backend || "–", settings.changelog ? "with changelog" : null),
    ),
    done.length > 1 ? percentiles(done) : null,
    told.started_from ? h("p", {}, "Started from ", h("code", { class: "path" }, told.started_from)) : null,
    settings.directory
      ? h("p", { class: "hint" }, "Directory: ", h("code", { class: "path" }, settings.directory))
      : null,
    entries.length
      ? h(
          "div",
          { class: "charts" },
          chart({
            title: "Duration",
            series: [{ name: "last", points: [...done].reverse().map((each) => [each.at_ms, each.duration_ms]) }],
            format: span,
          }),
          chart({
            title: "Size",
            series: [
              { name: "state", points: [...done].reverse().map((each) => [each.at_ms, each.bytes]) },
              { name: "written", points: [...done].reverse().map((each) => [each.at_ms, each.new_bytes]) },
            ],
            format: bytes,
          }),
        )
      : null,
    entries.length
      ? table("Checkpoints", heads, rows, { class: "cards" })
      : h(
          "p",
          { class: "empty" },
          told.interval_ms === null
            ? "This job takes no checkpoints: set execution.checkpointing.interval."
            : "No checkpoint yet.",
        ),
  );
}

function percentiles(done) {
  const row = (name, key, format) => {
    const values = done.map((each) => each[key]);
    return {
      key,
      cells: [name, ...[0, 0.5, 0.9, 0.95, 0.99, 1].map((share) => format(percentile(values, share)))],
    };
  };
  const heads = ["Minimum", "Median", "90 %", "95 %", "99 %", "Maximum"].map((name) => ({ name, number: true }));
  return h(
    "details",
    { class: "more" },
    h("summary", {}, `Percentiles of the last ${done.length}`),
    table(
      "Percentiles",
      [{ name: "" }, ...heads],
      [row("Duration", "duration_ms", span), row("State", "bytes", bytes), row("Written", "new_bytes", bytes)],
    ),
  );
}

function parts(checkpoint, names) {
  const rows = checkpoint.vertices.map((each) => ({
    key: each.id,
    cells: [
      names.get(each.id) || each.id,
      bytes(sum(each.bytes)),
      bytes(Math.max(0, ...each.bytes)),
      span(Math.max(0, ...each.ms)),
    ],
  }));
  return table(
    `Parts of checkpoint ${checkpoint.number}`,
    [
      { name: "Operators" },
      { name: "State", number: true },
      { name: "Largest subtask", number: true },
      { name: "Slowest subtask", number: true },
    ],
    rows,
  );
}

export function exceptions(job) {
  const { record } = job;
  const found = [...record.exceptions].reverse();
  const end =
    record.error && !found.some((each) => record.error.startsWith(each.text.slice(0, 200)))
      ? h("pre", {}, record.error)
      : null;
  const losses = [...(record.status.losses || [])].reverse();
  if (!found.length && !end && !losses.length) return h("p", { class: "empty" }, "No errors so far.");
  return h(
    "div",
    {},
    end ? h("section", { class: "panel bad" }, h("h3", {}, "Why the job ended"), end) : null,
    losses.length ? lostWorkers(losses) : null,
    h(
      "p",
      { class: "hint" },
      `Total restarts: ${count(record.status.restarts)}. The last errors follow, latest first.`,
    ),
    ...found.map((each) => {
      const cut = each.text.indexOf("\n");
      const first = cut < 0 ? each.text : each.text.slice(0, cut);
      return h(
        "article",
        { class: "panel exception", "data-key": `${each.at_ms}` },
        h("h3", {}, first),
        h(
          "dl",
          { class: "facts" },
          h("div", {}, h("dt", {}, "when"), h("dd", {}, when(each.at_ms))),
          each.operator ? h("div", {}, h("dt", {}, "operator"), h("dd", {}, each.operator)) : null,
          each.record ? h("div", {}, h("dt", {}, "record"), h("dd", {}, h("code", {}, each.record))) : null,
          h(
            "div",
            {},
            h("dt", {}, "then"),
            h(
              "dd",
              {},
              each.restart_ms === null || each.restart_ms === undefined
                ? "the job ended"
                : `restart after ${span(each.restart_ms)} from ${each.restart_from === null ? "the beginning" : `checkpoint ${each.restart_from}`}`,
            ),
          ),
        ),
        cut < 0 ? null : h("pre", { tabindex: "0" }, each.text.slice(cut + 1)),
      );
    }),
  );
}

function lostWorkers(losses) {
  const rows = losses.map((each, i) => ({
    key: `${each.at_ms}-${i}`,
    cells: [
      when(each.at_ms),
      each.process === null ? "–" : String(each.process),
      each.subtask === null ? "–" : String(each.subtask + 1),
      each.how,
      each.then,
    ],
  }));
  const heads = [{ name: "When" }, { name: "Process" }, { name: "Subtask" }, { name: "It" }, { name: "Then" }];
  return h(
    "section",
    { class: "panel" },
    h("h3", {}, "Lost workers"),
    table("Lost workers", heads, rows, { class: "cards" }),
  );
}

export function state(job) {
  const { record } = job;
  const names = new Map(record.plan.vertices.map((each) => [each.id, each.name]));
  const found = (record.checkpoints.state || [])
    .filter((each) => sum(each.bytes) > 0)
    .sort((a, b) => sum(b.bytes) - sum(a.bytes));
  if (!found.length)
    return h(
      "p",
      { class: "empty" },
      "No state in the last checkpoint. Sizes are known once a checkpoint is complete.",
    );
  const most = Math.max(...found.flatMap((each) => each.bytes));
  const rows = found.map((each) => {
    const skew = skewOf(each.bytes);
    return {
      key: each.vertex + each.operators.join(),
      cells: [
        h(
          "span",
          {},
          each.operators.length ? each.operators.join(", ") : "(timers and positions)",
          h("small", { class: "under" }, names.get(each.vertex) || each.vertex),
        ),
        bytes(sum(each.bytes)),
        h(
          "span",
          {
            class: "bars",
            role: "img",
            "aria-label": each.bytes.map((size, i) => `subtask ${i + 1}: ${bytes(size)}`).join(", "),
          },
          ...each.bytes.slice(0, 64).map((size, i) =>
            h("span", {
              title: `subtask ${i + 1}: ${bytes(size)}`,
              style: { height: `${Math.max(4, (100 * size) / most)}%` },
            }),
          ),
        ),
        skew === null ? "–" : `+${skew} %`,
      ],
    };
  });
  return h(
    "div",
    {},
    h("p", { class: "hint" }, "Sizes in the last checkpoint. Operators whose state is in the same files are one row."),
    table(
      "State",
      [{ name: "Operators" }, { name: "State", number: true }, { name: "By subtask" }, { name: "Skew", number: true }],
      rows,
      { class: "cards" },
    ),
  );
}

function filtered(job, name, label, lines) {
  const wanted = (job.filters[name] || "").toLowerCase();
  const input = h("input", {
    type: "search",
    placeholder: "Filter",
    "aria-label": label,
    oninput: (event) => {
      job.filters[name] = event.target.value;
      job.redraw();
    },
  });
  return [input, lines.filter((each) => !wanted || each.text.toLowerCase().includes(wanted))];
}

export function configuration(job) {
  const { record } = job;
  const about = [
    ["job id", record.job_id],
    ["release", record.release],
    ["host", record.host],
    ["process", String(record.pid)],
    ["mode", record.plan.batch ? "BATCH" : "STREAMING"],
  ];
  const settings = Object.entries(record.configuration || {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => ({ key, value, text: `${key} ${value}` }));
  const [input, chosen] = filtered(job, "configuration", "Filter the configuration", settings);
  const rows = chosen.map((each) => ({ key: each.key, cells: [h("code", {}, each.key), h("code", {}, each.value)] }));
  return h(
    "div",
    {},
    h(
      "dl",
      { class: "facts" },
      ...about.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, h("code", {}, value)))),
    ),
    h(
      "div",
      { class: "tools" },
      input,
      h("span", { class: "hint" }, "What the program and the command line have set; secrets are hidden."),
    ),
    rows.length
      ? table("Configuration", [{ name: "Key" }, { name: "Value" }], rows)
      : h("p", { class: "empty" }, "Nothing is set."),
  );
}

export function log(job) {
  const levels = { ALL: 0, WARNING: 30, ERROR: 40 };
  const rank = { DEBUG: 10, INFO: 20, WARNING: 30, ERROR: 40, CRITICAL: 50 };
  const level = job.filters.level || "ALL";
  const lines = job.log
    .filter((each) => (rank[each.level] || 0) >= levels[level])
    .map((each) => ({ ...each, shown: each.text, text: `${each.level} ${each.logger} ${each.text}` }));
  const [input, chosen] = filtered(job, "log", "Filter the log", lines);
  const choice = h(
    "select",
    {
      "aria-label": "Lowest level",
      onchange: (event) => {
        job.filters.level = event.target.value;
        job.redraw();
      },
    },
    ...Object.keys(levels).map((each) => h("option", { value: each, selected: each === level }, each.toLowerCase())),
  );
  return h(
    "div",
    {},
    h(
      "div",
      { class: "tools" },
      input,
      choice,
      h("span", { class: "hint" }, "The last log lines of the driver, and of workers on its machine."),
    ),
    chosen.length
      ? h(
          "ol",
          { class: "log", tabindex: "0", "aria-label": "Log" },
          ...chosen
            .slice(-500)
            .map((each, i) =>
              h(
                "li",
                { class: each.level.toLowerCase(), "data-key": `${each.at_ms}-${i}` },
                h("time", {}, clock(each.at_ms)),
                h("b", {}, each.level),
                h("span", { class: "logger" }, each.logger),
                h("span", { class: "text" }, each.shown),
              ),
            ),
        )
      : h("p", { class: "empty" }, "Nothing has been logged."),
  );
}
