// The list of jobs.

import { h } from "./elements.js";
import { chip, table, when } from "./parts.js";
import { brief, count, span } from "./texts.js";

// A job that has just ended answers for another moment.
export const lives = (record) =>
  record.ended_ms === null && !["LOST", "FINISHED", "CANCELED", "FAILED"].includes(record.status.state);

export function overview(jobs) {
  const living = jobs.filter(lives);
  const ended = jobs.filter((each) => !living.includes(each));
  document.title = `flintstream: ${living.length} running`;
  const row = (each) => ({
    key: each.job_id,
    cells: [
      h(
        "span",
        {},
        h("a", { href: `#/jobs/${each.job_id}` }, each.name),
        h(
          "small",
          { class: "under" },
          each.job_id.slice(0, 8),
          each.batch ? ", batch" : "",
          each.error ? `: ${each.error.split("\n")[0]}` : "",
        ),
      ),
      chip(each.status.state),
      when(each.started_ms),
      span((each.ended_ms || (each.status.state === "LOST" ? NaN : Date.now())) - each.started_ms),
      brief(each.status.records_in),
      brief(each.status.records_out),
      count(each.status.restarts),
      each.status.failed_checkpoints
        ? `${count(each.status.checkpoints)} (${count(each.status.failed_checkpoints)} failed)`
        : count(each.status.checkpoints),
    ],
  });
  const heads = [
    { name: "Job" },
    { name: "State" },
    { name: "Started" },
    { name: "Duration", number: true },
    { name: "In", number: true },
    { name: "Out", number: true },
    { name: "Restarts", number: true },
    { name: "Checkpoints", number: true },
  ];
  return [
    h("h1", {}, "Jobs"),
    h(
      "section",
      { class: "panel", "aria-label": "Running jobs" },
      h("h2", {}, `Running (${living.length})`),
      living.length
        ? table("Running jobs", heads, living.map(row), { class: "cards" })
        : h("p", { class: "empty" }, "No running jobs. Start one: flintstream run job.py"),
    ),
    ended.length
      ? h(
          "section",
          { class: "panel", "aria-label": "Ended jobs" },
          h("h2", {}, `Ended (${ended.length})`),
          table("Ended jobs", heads, ended.map(row), { class: "cards" }),
        )
      : null,
  ].filter(Boolean);
}
