// What the buttons of a job do.

import { h } from "./elements.js";
import { say } from "./parts.js";
import { ask } from "./requests.js";

// Show a dialog with fields, and return their values, or null if it was closed.
function confirmed(title, text, fields, action, kind) {
  return new Promise((resolve) => {
    const inputs = fields.map((field) =>
      h("input", {
        name: field.name,
        type: field.type || "text",
        value: field.value,
        id: `field-${field.name}`,
        autocomplete: "off",
      }),
    );
    const lines = fields.map((field, i) =>
      h(
        "p",
        { class: field.type === "checkbox" ? "check" : "field" },
        h("label", { for: `field-${field.name}` }, field.label),
        inputs[i],
      ),
    );
    const dialog = h(
      "dialog",
      { "aria-labelledby": "dialog-title" },
      h(
        "form",
        { method: "dialog" },
        h("h2", { id: "dialog-title" }, title),
        h("p", {}, text),
        ...lines,
        h(
          "div",
          { class: "actions" },
          h("button", { value: "no", formnovalidate: true }, "Back"),
          h("button", { value: "yes", class: kind }, action),
        ),
      ),
    );
    dialog.addEventListener("close", () => {
      const values = Object.fromEntries(
        inputs.map((each) => [each.name, each.type === "checkbox" ? each.checked : each.value.trim()]),
      );
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? values : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

const directory = (record) => ({
  name: "directory",
  label: "Directory",
  value: record.checkpoints.settings?.savepoint_directory || "",
});

export async function savepoint(job) {
  const { record } = job;
  const given = await confirmed(
    "Take a savepoint",
    `'${record.name}' keeps running.`,
    [directory(record)],
    "Take savepoint",
    "primary",
  );
  if (given)
    await trigger(job, "savepoints", given.directory ? { "target-directory": given.directory } : {}, "Savepoint");
}

export async function rescale(job) {
  const { record } = job;
  const widest = Math.max(...record.plan.vertices.map((each) => each.parallelism));
  const given = await confirmed(
    "Rescale the job",
    `'${record.name}' continues from a checkpoint. Operators whose parallelism the program sets keep theirs.`,
    [{ name: "parallelism", type: "number", label: "Parallelism", value: widest }],
    "Rescale it",
    "primary",
  );
  if (!given) return;
  try {
    await ask(`/flintstream/jobs/${record.job_id}/rescale`, "POST", { parallelism: Number(given.parallelism) });
    say(`'${record.name}' runs with parallelism ${given.parallelism}.`, "good");
  } catch (error) {
    say(`The job was not rescaled: ${error.message}`, "bad");
  }
  await job.refresh();
}

export async function stop(job) {
  const { record } = job;
  const drain = {
    name: "drain",
    type: "checkbox",
    label: "End the input and let all event time pass first (the job cannot continue later)",
  };
  const given = await confirmed(
    "Stop with a savepoint",
    `'${record.name}' ends. Start it again from the savepoint.`,
    [directory(record), drain],
    "Stop the job",
    "danger",
  );
  if (given)
    await trigger(
      job,
      "stop",
      { ...(given.directory ? { targetDirectory: given.directory } : {}), drain: given.drain },
      "Stopped with savepoint",
    );
}

export async function cancel(job) {
  const { record } = job;
  const given = await confirmed(
    "Cancel the job",
    `'${record.name}' ends without a savepoint. Its work since the last checkpoint is lost.`,
    [],
    "Cancel the job",
    "danger",
  );
  if (!given) return;
  try {
    await ask(`/jobs/${record.job_id}?mode=cancel`, "PATCH");
    say(`'${record.name}' was cancelled.`, "good");
  } catch (error) {
    say(`The job was not cancelled: ${error.message}`, "bad");
  }
  await job.refresh();
}

async function trigger(job, what, body, done) {
  const path = `/jobs/${job.id}`;
  try {
    const { "request-id": id } = await ask(`${path}/${what}`, "POST", body);
    for (;;) {
      const told = await ask(`${path}/savepoints/${id}`);
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
  await job.refresh();
}
