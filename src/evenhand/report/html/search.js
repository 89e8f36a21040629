// Search in all texts of all samples, a block at a time, so that the page never stands still.

const SLICE = 12; // Milliseconds before the page may do something else.
const NEWS = 100; // Milliseconds before the table shows what was found so far.
let searching = 0;

// Calls `tell(found, done)` from time to time; a later search ends an earlier one.
function search(query, tell) {
  const mine = ++searching;
  const found = new Set();
  const needle = query.trim().toLowerCase();
  if (!needle) return tell(null, true);
  for (const sample of samples) {
    if (contains([sample.id, sample.input, sample.tags], needle)) found.add(sample.position);
  }
  tell(found, false);
  return lookThrough(needle, found, () => mine === searching, tell);
}

async function lookThrough(needle, found, wanted, tell) {
  let [end, told] = [performance.now() + SLICE, performance.now()];
  try {
    for (const sample of samples) {
      const lines = await linesOf(sample.block);
      if (performance.now() > end) {
        await new Promise((go) => { setTimeout(go); });
        if (!wanted()) return;
        if (performance.now() > told + NEWS) {
          tell(found, false);
          told = performance.now();
        }
        end = performance.now() + SLICE;
      }
      look(sample, lines[sample.line], needle, found);
    }
  } catch { /* This browser cannot unpack them: what the table shows has been searched. */ }
  if (wanted()) tell(found, true);
}

// The raw line first, which is quick; then the values in it, since names of fields are in the line too.
function look(sample, line, needle, found) {
  if (found.has(sample.position)) return;
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
