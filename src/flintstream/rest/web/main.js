// What is shown when, and requests in the background.

import { h, show } from "./elements.js";
import { connect } from "./graph.js";
import { TABS, view } from "./job.js";
import { lives, overview } from "./overview.js";
import { ask, Refused, takeKey } from "./requests.js";
import { numbers } from "./samples.js";

const POLL_MS = 2000;
const main = document.getElementById("main");
let jobs = null;
let current = null;
let opened = false;

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
  const [record, samples, lines] = await Promise.all([
    ask(path),
    ask(`${path}/curves?since=${since}`),
    job.tab === "log" || !job.record ? ask(`${path}/log`) : job.log,
  ]);
  job.record = record;
  job.log = lines;
  if (record.ended_ms === null)
    for (const [name, value] of numbers(record.metrics)) {
      const points = job.values.get(name) || [];
      points.push([Date.now(), value]);
      job.values.set(name, points.slice(-900));
    }
  job.samples.push(...samples.filter((each) => each.at_ms > since));
  while (job.samples.length > 1200) job.samples = job.samples.filter((_, i) => i % 2 === 0);
}

function failed(error) {
  let text = error.message;
  if (!(error instanceof Refused))
    text =
      "The server does not answer. If a program started it (flintstream run --ui), that program has ended; 'flintstream ui' shows the result.";
  else if (error.status === 401)
    text =
      "The server does not know this page, perhaps because it was restarted. Open the address with the token that it printed.";
  show(document.getElementById("banner"), h("p", {}, text));
}

function render() {
  if (current ? !current.record : !jobs) return;
  show(main, current ? view(current) : overview(jobs));
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
    if (!current || current.id !== id)
      current = {
        id,
        record: null,
        samples: [],
        log: [],
        values: new Map(),
        chosen: null,
        filters: {},
        tab: "graph",
        redraw: render,
        refresh: poll,
      };
    current.tab = TABS.some(([name]) => name === tabName) ? tabName : "graph";
    opened = true;
  }
  render();
  poll();
}

const THEMES = { system: ["◐", "system setting"], light: ["☀", "light"], dark: ["☾", "dark"] };
function theme(name) {
  localStorage.setItem("theme", name);
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  const button = document.getElementById("theme");
  button.textContent = THEMES[name][0];
  button.setAttribute("aria-label", `Colors: ${THEMES[name][1]}`);
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
addEventListener("resize", () => current?.record && current.tab === "graph" && connect(current));
takeKey();
theme(localStorage.getItem("theme") in THEMES ? localStorage.getItem("theme") : "system");
route();
(async () => {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (!document.hidden) await poll();
  }
})();
