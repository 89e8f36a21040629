// What the page holds: facts of the run, an index row for each sample, and the samples as packed lines of JSON.

const byId = (id) => document.getElementById(id);
const facts = JSON.parse(byId('facts').textContent);
const blocks = [...document.querySelectorAll('script.samples')];
const variants = facts.variants.map((one) => one.name);
const control = facts.variants.find((one) => one.role === 'control')?.name;

// The method layered asks for `judge`, which is the whole rubric layer; a judge is who judges.
const criterionName = (id) => (id === 'judge' ? 'rubric layer' : id);

// Control characters; marks of direction and of no width, which reorder or hide what is read; halves of characters.
const HIDING = new RegExp('[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e'
  + '\\u2060-\\u2069\\ufeff\\u{e0000}-\\u{e007f}\\ud800-\\udfff]', 'gu');

function visible(text) {
  return String(text).replace(/\r\n/g, '\n').replace(HIDING, (found) => {
    const number = found.codePointAt(0);
    const [mark, digits] = number < 256 ? ['\\x', 2] : number < 65536 ? ['\\u', 4] : ['\\U', 8];
    return mark + number.toString(16).padStart(digits, '0');
  });
}

// The only way in which anything gets onto the page: elements by name, text as text.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== '') {
      element.append(child instanceof Node ? child : visible(child));
    }
  }
  return element;
}

function draw(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const known = (value) => value !== null && value !== undefined;
// Means of repeats may differ in the last bit: that is no difference.
const minus = (to, from) => !known(to) || !known(from) ? null : Math.abs(to - from) < 1e-9 ? 0 : to - from;
const figure = (value, digits = 2) => known(value) ? value.toFixed(digits).replace('-', '−') : '–';
const signed = (value) => known(value) ? (value > 0 ? '+' : value < 0 ? '−' : '') + Math.abs(value).toFixed(2) : '–';
const dollars = (amount) => !known(amount) ? '' : amount === 0 ? '$0' : amount > 0 && amount < 0.0001 ? 'under $0.0001'
  : amount >= 1 ? `$${amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
    : `$${amount.toFixed(4)}`;
const many = (number, one, more = `${one}s`) => `${number.toLocaleString('en')} ${number === 1 ? one : more}`;
const written = (value) => typeof value === 'string' ? value : JSON.stringify(value, null, 1);
const wellFormed = (text) => text.replace(/[\ud800-\udfff]/gu, '\ufffd');
const place = (id) => `#sample=${encodeURIComponent(wellFormed(id))}`;

// A time as people say it, in three digits at most.
function duration(milliseconds) {
  if (!known(milliseconds)) return '';
  if (milliseconds > 0 && milliseconds < 1) return 'under 1 ms';
  if (Math.round(milliseconds) < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  return seconds < 99.95 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds).toLocaleString('en')} s`;
}

const MARKS = { pass: '✓', borderline: '◐', fail: '✕', failed: '!', incomplete: '–', none: '–' };

function marked(word, text = word) {
  const sign = make('span', { 'aria-hidden': 'true' }, MARKS[word] ?? '·');
  return make('span', { class: `mark ${word}` }, sign, make('span', { class: 'says' }, ` ${text}`));
}

// One object for each sample, from the index alone; the sample itself is read when it is opened.
const samples = [];
for (const [block, element] of [...document.querySelectorAll('script.index')].entries()) {
  for (const [line, [id, input, tags, results]] of JSON.parse(element.textContent).entries()) {
    samples.push(entry({ id, input, tags, block, line, position: samples.length }, results));
  }
}
const places = new Map();
for (const sample of samples) if (!places.has(wellFormed(sample.id))) places.set(wellFormed(sample.id), sample);

function entry(sample, results) {
  sample.results = results.map(([variant, state, verdict, value, failed, flags, criteria, grade, moved]) => (
    { variant, state, verdict, value, failed, flags, criteria, grade, moved }));
  sample.by = new Map(variants.map((name) => [name, summary(sample.results.filter((one) => one.variant === name))]));
  [sample.difference, sample.changed] = difference(sample.by);
  sample.values = [...sample.by.values()].map((one) => one.value).filter(known);
  return sample;
}

function summary(results) {
  const values = results.map((one) => one.value).filter(known);
  const worst = ['failed', 'incomplete', 'fail', 'borderline', 'pass'].find(
    (word) => results.some((one) => one.state === word || (one.state === 'scored' && one.verdict === word)));
  return {
    value: values.length ? values.reduce((sum, one) => sum + one, 0) / values.length : null,
    worst: worst ?? 'none',
    times: results.length,
    grades: [...new Set(results.map((one) => one.grade).filter(known))].join(', '),
  };
}

// The largest difference of any treatment from the control, upwards or downwards, and the name of the treatment.
function difference(by) {
  const from = by.get(control)?.value;
  if (!known(from)) return [null, ''];
  const all = variants.filter((name) => name !== control && known(by.get(name).value));
  const changes = all.map((name) => [minus(by.get(name).value, from), name]);
  return changes.sort(([one], [other]) => Math.abs(other) - Math.abs(one))[0] ?? [null, ''];
}

// The last block that was asked for, with a promise of its lines.
let opened = { block: -1, lines: null };

function linesOf(block) {
  if (opened.block !== block) opened = { block, lines: unpack(blocks[block].textContent) };
  return opened.lines;
}

async function unpack(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return (await new Response(plain).text()).split('\n').filter(Boolean);
}

const read = async (sample) => JSON.parse((await linesOf(sample.block))[sample.line]);
