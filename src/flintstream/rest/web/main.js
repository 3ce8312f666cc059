"use strict";
// What is shown when, requests in the background, and actions.

const POLL_MS = 2000;
const TABS = [["graph", "Graph", graph], ["curves", "Metrics", curves], ["checkpoints", "Checkpoints", checkpoints], ["exceptions", "Exceptions", exceptions], ["state", "State", state], ["configuration", "Configuration", configuration], ["log", "Log", log]];
const main = document.getElementById("main");
let jobs = null;
let current = null;
let opened = false;

// A job that has just ended answers for another moment.
const lives = (record) => record.ended_ms === null && !["LOST", "FINISHED", "CANCELED", "FAILED"].includes(record.status.state);

// -- the list of jobs -----------------------------------------------------------------------------------------------

function overview() {
  const living = jobs.filter(lives);
  const ended = jobs.filter((each) => !living.includes(each));
  document.title = `flintstream: ${living.length} running`;
  const row = (each) => ({
    key: each.job_id,
    cells: [
      h("span", {}, h("a", { href: `#/jobs/${each.job_id}` }, each.name), h("small", { class: "under" }, each.job_id.slice(0, 8), each.batch ? ", batch" : "", each.error ? `: ${each.error.split("\n")[0]}` : "")),
      chip(each.status.state),
      when(each.started_ms),
      span((each.ended_ms || (each.status.state === "LOST" ? NaN : Date.now())) - each.started_ms),
      brief(each.status.records_in),
      brief(each.status.records_out),
      count(each.status.restarts),
      each.status.failed_checkpoints ? `${count(each.status.checkpoints)} (${count(each.status.failed_checkpoints)} failed)` : count(each.status.checkpoints),
    ],
  });
  const heads = [{ name: "Job" }, { name: "State" }, { name: "Started" }, { name: "Duration", number: true }, { name: "In", number: true }, { name: "Out", number: true }, { name: "Restarts", number: true }, { name: "Checkpoints", number: true }];
  return [
    h("h1", {}, "Jobs"),
    h("section", { class: "panel", "aria-label": "Running jobs" }, h("h2", {}, `Running (${living.length})`), living.length ? table("Running jobs", heads, living.map(row), { class: "cards" }) : h("p", { class: "empty" }, "No running jobs. Start one: flintstream run job.py")),
    ended.length ? h("section", { class: "panel", "aria-label": "Ended jobs" }, h("h2", {}, `Ended (${ended.length})`), table("Ended jobs", heads, ended.map(row), { class: "cards" })) : null,
  ].filter(Boolean);
}

// -- a job ----------------------------------------------------------------------------------------------------------

function view() {
  const { record, samples } = current;
  const status = record.status;
  const running = lives(record);
  document.title = `${record.name}: ${status.state.toLowerCase()}`;
  const last = samples[samples.length - 1];
  const speed = (part) => {
    const found = rates(samples.slice(-6), (each) => each[part]);
    return running && found.length ? `${brief(found[found.length - 1][1])}/s` : "–";
  };
  const done = [...(record.checkpoints.history || [])].reverse().find((each) => each.status === "COMPLETED");
  const [, , draw] = TABS.find(([id]) => id === current.tab);
  return [
    h(
      "div",
      { class: "jobhead" },
      h("div", {}, h("h1", {}, record.name, " ", chip(status.state)), h("p", { class: "hint" }, "started ", when(record.started_ms), record.ended_ms ? [", ended ", when(record.ended_ms)] : "", `, process ${record.pid} on ${record.host}`)),
      running ? h("div", { class: "actions" }, h("button", { type: "button", onclick: () => savepoint(record) }, "Savepoint"), record.plan.batch ? null : h("button", { type: "button", onclick: () => rescale(record) }, "Rescale …"), h("button", { type: "button", onclick: () => stop(record) }, "Stop …"), h("button", { type: "button", class: "danger", onclick: () => cancel(record) }, "Cancel …")) : null,
    ),
    h(
      "dl",
      { class: "tiles" },
      tile("In", speed("in"), `${brief(status.records_in)} records`),
      tile("Out", speed("out"), `${brief(status.records_out)} records`),
      tile("Latency", last && last.latency ? span(last.latency[0]) : "–", last && last.latency ? `99 %: ${span(last.latency[1])}` : null, "from source to sink, median of the last epochs"),
      tile("Watermark", status.watermark === null ? "none" : Math.abs(status.watermark) > 8.64e15 ? "end" : running ? span(Date.now() - status.watermark) : clock(status.watermark), status.watermark === null || !running ? null : "behind the clock"),
      tile("Checkpoints", count(status.checkpoints), done ? `last ${ago(done.at_ms)}, ${span(done.duration_ms)}` : null),
      tile("Restarts", count(status.restarts), running ? `up ${span(record.metrics.totals.uptime)}` : `ran ${span(record.metrics.totals.uptime)}`),
    ),
    h("div", { class: "tabs", role: "tablist", "aria-label": "Views of the job" }, ...TABS.map(([id, name]) => tab(id, name, record))),
    h("section", { id: "view", class: "view", role: "tabpanel", "aria-labelledby": `tab-${current.tab}`, "data-key": `${record.job_id}-${current.tab}` }, draw(current)),
  ];
}

function tab(id, name, record) {
  const chosen = id === current.tab;
  const number = id === "exceptions" ? record.exceptions.length : id === "checkpoints" ? record.checkpoints.failed : 0;
  return h(
    "a",
    { role: "tab", id: `tab-${id}`, href: `#/jobs/${record.job_id}/${id}`, "aria-selected": String(chosen), "aria-controls": chosen ? "view" : null, tabindex: chosen ? "0" : "-1", onkeydown: turn },
    name,
    number ? h("span", { class: "number badge", "aria-label": id === "exceptions" ? `${number} errors` : `${number} failed` }, String(number)) : null,
  );
}

function turn(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const at = TABS.findIndex(([id]) => id === current.tab);
  const [id] = TABS[(at + step + TABS.length) % TABS.length];
  location.hash = `#/jobs/${current.id}/${id}`;
  setTimeout(() => document.getElementById(`tab-${id}`)?.focus(), 50);
}

// -- actions ----------------------------------------------------------------------------------------------------------

// Show a dialog with fields, and return their values, or null if it was closed.
function confirmed(title, text, fields, action, kind) {
  return new Promise((resolve) => {
    const inputs = fields.map((field) => h("input", { name: field.name, type: field.type || "text", value: field.value, id: `field-${field.name}`, autocomplete: "off" }));
    const lines = fields.map((field, i) => h("p", { class: field.type === "checkbox" ? "check" : "field" }, h("label", { for: `field-${field.name}` }, field.label), inputs[i]));
    const dialog = h("dialog", { "aria-labelledby": "dialog-title" }, h("form", { method: "dialog" }, h("h2", { id: "dialog-title" }, title), h("p", {}, text), ...lines, h("div", { class: "actions" }, h("button", { value: "no", formnovalidate: true }, "Back"), h("button", { value: "yes", class: kind }, action))));
    dialog.addEventListener("close", () => {
      const values = Object.fromEntries(inputs.map((each) => [each.name, each.type === "checkbox" ? each.checked : each.value.trim()]));
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? values : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

const directory = (record) => ({ name: "directory", label: "Directory", value: (record.checkpoints.settings || {}).savepoint_directory || "" });

async function savepoint(record) {
  const given = await confirmed("Take a savepoint", `'${record.name}' keeps running.`, [directory(record)], "Take it", "primary");
  if (given) await trigger(record, "savepoints", given.directory ? { "target-directory": given.directory } : {}, "Savepoint");
}

async function rescale(record) {
  const widest = Math.max(...record.plan.vertices.map((each) => each.parallelism));
  const given = await confirmed("Rescale the job", `'${record.name}' continues from a checkpoint, with this parallelism for all operators whose parallelism the program does not set.`, [{ name: "parallelism", type: "number", label: "Parallelism", value: widest }], "Rescale it", "primary");
  if (!given) return;
  try {
    await ask(`/flintstream/jobs/${record.job_id}/rescale`, "POST", { parallelism: Number(given.parallelism) });
    say(`'${record.name}' runs with parallelism ${given.parallelism}.`, "good");
  } catch (error) {
    say(`The job was not rescaled: ${error.message}`, "bad");
  }
  await poll();
}

async function stop(record) {
  const drain = { name: "drain", type: "checkbox", label: "End the input and let all event time pass first (the job cannot go on later)" };
  const given = await confirmed("Stop with a savepoint", `'${record.name}' ends. Start it again from the savepoint.`, [directory(record), drain], "Stop the job", "danger");
  if (given) await trigger(record, "stop", { ...(given.directory ? { targetDirectory: given.directory } : {}), drain: given.drain }, "Stopped with savepoint");
}

async function cancel(record) {
  const given = await confirmed("Cancel the job", `'${record.name}' ends without a savepoint. What it has done since its last checkpoint is lost.`, [], "Cancel the job", "danger");
  if (!given) return;
  try {
    await ask(`/jobs/${record.job_id}?mode=cancel`, "PATCH");
    say(`'${record.name}' was cancelled.`, "good");
  } catch (error) {
    say(`The job was not cancelled: ${error.message}`, "bad");
  }
  await poll();
}

async function trigger(record, what, body, done) {
  try {
    const { "request-id": id } = await ask(`/jobs/${record.job_id}/${what}`, "POST", body);
    for (;;) {
      const told = await ask(`/jobs/${record.job_id}/savepoints/${id}`);
      if (told.status.id === "COMPLETED") {
        const failed = told.operation["failure-cause"];
        say(failed ? failed["stack-trace"] : `${done}: ${told.operation.location}`, failed ? "bad" : "good");
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  } catch (error) {
    say(error.message, "bad");
  }
  await poll();
}

// -- polling ----------------------------------------------------------------------------------------------------------

async function poll() {
  try {
    await (current ? pollJob(current) : pollJobs());
    document.getElementById("banner").replaceChildren();
    render();
  } catch (error) {
    failed(error);
  }
}

async function pollJobs() {
  jobs = await ask("/flintstream/jobs");
  const living = jobs.filter(lives);
  if (!opened && living.length === 1) location.hash = `#/jobs/${living[0].job_id}`;
  opened = true;
}

async function pollJob(job) {
  const since = job.samples.length ? job.samples[job.samples.length - 1].at_ms : 0;
  const path = `/flintstream/jobs/${job.id}`;
  if (job.record && job.record.ended_ms !== null) return; // nothing changes any more
  const [record, samples, lines] = await Promise.all([ask(path), ask(`${path}/curves?since=${since}`), job.tab === "log" || !job.record ? ask(`${path}/log`) : job.log]);
  job.record = record;
  job.log = lines;
  job.samples.push(...samples.filter((each) => each.at_ms > since));
  while (job.samples.length > 1200) job.samples = job.samples.filter((_, i) => i % 2 === 0);
}

function failed(error) {
  let text = error.message;
  if (!(error instanceof Refused)) text = "The server does not answer. If it belonged to a program (flintstream run --ui), that program has ended; 'flintstream ui' shows how.";
  else if (error.status === 401) text = "The server does not know this page, perhaps because it was started again. Open the address with a token that it printed.";
  show(document.getElementById("banner"), h("p", {}, text));
}

function render() {
  if (current ? !current.record : !jobs) return;
  show(main, current ? view() : overview());
  if (current && current.tab === "graph") connect(current);
  if (current && current.seen !== current.tab) {
    current.seen = current.tab; // on a narrow page the row of tabs is longer than the page
    document.getElementById(`tab-${current.tab}`).scrollIntoView({ inline: "center", block: "nearest" });
  }
}

function route() {
  const [, id, tabName] = /^#\/jobs\/([0-9a-f]{32})(?:\/([a-z]+))?/.exec(location.hash) || [];
  if (!id) {
    current = null;
    opened = opened || location.hash === "#/";
  } else {
    if (!current || current.id !== id) current = { id, record: null, samples: [], log: [], chosen: null, filters: {}, tab: "graph" };
    current.tab = TABS.some(([name]) => name === tabName) ? tabName : "graph";
    opened = true;
  }
  render();
  poll();
}

const THEMES = { system: ["◐", "those of the system"], light: ["☀", "light"], dark: ["☾", "dark"] };
function theme(name) {
  localStorage.setItem("theme", name);
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  const button = document.getElementById("theme");
  button.textContent = THEMES[name][0];
  button.setAttribute("aria-label", `Colours: ${THEMES[name][1]}`);
}

document.getElementById("theme").onclick = () => {
  const names = Object.keys(THEMES);
  theme(names[(names.indexOf(localStorage.getItem("theme") || "system") + 1) % names.length]);
};
document.querySelector("[data-skip]").onclick = (event) => {
  event.preventDefault();
  main.focus();
};
addEventListener("hashchange", route);
addEventListener("resize", () => current && current.record && current.tab === "graph" && connect(current));
takeKey();
theme(localStorage.getItem("theme") in THEMES ? localStorage.getItem("theme") : "system");
route();
(async () => {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (!document.hidden) await poll();
  }
})();
