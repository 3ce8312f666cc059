// What the samples of a job say.

export const sum = (values) => values.reduce((all, value) => all + value, 0);

// How far the busiest subtask is above the average, in percent: 0 if all do the same.
export function skewOf(values) {
  const average = sum(values) / values.length;
  return values.length > 1 && average > 0 ? Math.round((100 * Math.max(...values)) / average - 100) : null;
}

const SAMPLE_GAP_MS = 8000;

// Per second between two samples that are not too close, so that short epochs do not make teeth.
export function rates(samples, total, least = 1500) {
  const found = [];
  let before = samples[0];
  for (const next of samples.slice(1)) {
    const elapsed = next.at_ms - before.at_ms;
    if (elapsed < least) continue;
    found.push([next.at_ms, Math.max(0, total(next) - total(before)) / (elapsed / 1000)]);
    before = next;
  }
  return found;
}

// What a job does now: per vertex and subtask, from the last samples that are far enough apart.
export function now(samples, window = SAMPLE_GAP_MS) {
  if (samples.length < 2) return null;
  const last = samples[samples.length - 1];
  let first = samples[samples.length - 2];
  for (let i = samples.length - 2; i >= 0 && last.at_ms - first.at_ms < window; i -= 1) first = samples[i];
  // A job without input runs no epochs, and its samples end: then nothing happens.
  const until = Math.max(last.at_ms, Date.now() - last.at_ms > window ? Date.now() : last.at_ms);
  const ms = Math.max(1, until - first.at_ms);
  return last.vertices.map((parts, vertex) =>
    parts[0].map((_, subtask) => {
      const before = first.vertices[vertex]; // not there if the job has been rescaled since, which makes other chains
      const change = (part) => Math.max(0, parts[part][subtask] - (before?.[part][subtask] || 0));
      const busy = Math.min(1, change(2) / ms);
      return {
        in: (1000 * change(0)) / ms,
        out: (1000 * change(1)) / ms,
        busy,
        held: Math.min(1 - busy, change(3) / ms),
        engine: Math.min(1, parts[4] ? change(4) / ms : 0), // not in samples of an older release
      };
    }),
  );
}

// Averages of epochs between samples: [ms, [work, waiting, engine, share of resident ones]].
export function epochs(samples, least = 1500) {
  const found = [];
  const known = samples.filter((each) => each.epochs?.length);
  let before = known[0];
  for (const next of known.slice(1)) {
    const [count, work, waiting, engine, resident] = next.epochs.map((value, i) => value - before.epochs[i]);
    if (next.at_ms - before.at_ms < least || count <= 0) continue;
    found.push([next.at_ms, [work / count, waiting / count, engine / count, resident / count]]);
    before = next;
  }
  return found;
}

// The sum of a metric over all subtasks, for each name that numbers have.
export function numbers(metrics) {
  const found = new Map();
  const add = (name, value) => {
    if (typeof value === "number" && Math.abs(value) < 2 ** 62) found.set(name, (found.get(name) || 0) + value);
  };
  for (const [name, value] of Object.entries(metrics.totals)) add(name, value);
  for (const each of [...metrics.tasks, ...metrics.operators])
    for (const [name, value] of Object.entries(each.values)) add(`${each.task || each.operator}: ${name}`, value);
  return found;
}

// The value that a share of some values do not exceed.
export function percentile(values, share) {
  const ordered = [...values].sort((a, b) => a - b);
  return ordered.length ? ordered[Math.max(0, Math.ceil(share * ordered.length) - 1)] : null;
}
