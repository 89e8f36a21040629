// Search in all texts of all samples, a block at a time, so that the page never stands still.

const SLICE = 12; // Milliseconds before the page may do something else.
let searching = 0;

// Calls `tell(found, done)` after every slice; a later search ends an earlier one.
function search(query, tell) {
  const mine = ++searching;
  const found = new Set();
  const needle = query.trim().toLowerCase();
  if (!needle) return tell(null, true);
  for (const sample of samples) {
    if (contains([sample.id, sample.input, sample.tags], needle)) found.add(sample.position);
  }
  tell(found, false);
  let next = 0;
  const go = () => {
    if (mine !== searching) return;
    const end = performance.now() + SLICE;
    while (next < samples.length && performance.now() < end) look(samples[next++], needle, found);
    tell(found, next === samples.length);
    if (next < samples.length) setTimeout(go);
  };
  return setTimeout(go);
}

// The raw line first, which is quick; then the values in it, since names of fields are in the line too.
function look(sample, needle, found) {
  if (found.has(sample.position)) return;
  const line = linesOf(sample.block)[sample.line];
  if (!line.toLowerCase().includes(escaped(needle))) return;
  if (contains(JSON.parse(line), needle)) found.add(sample.position);
}

function escaped(needle) {
  return JSON.stringify(needle).slice(1, -1).replace(/[<>&\u2028\u2029]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function contains(data, needle) {
  if (typeof data === 'string') return data.toLowerCase().includes(needle);
  return data !== null && typeof data === 'object' && Object.values(data).some((one) => contains(one, needle));
}
