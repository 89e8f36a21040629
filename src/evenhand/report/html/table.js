// The table of samples: filtered, sorted, twenty-five to a page.

const PAGE = 25;
const view = { found: null, busy: false, order: samples, page: 0 };
const filters = ['variant', 'state', 'verdict', 'change', 'assertion', 'tag', 'sort'];
const chosen = (id) => byId(id).value;

const SORTS = {
  position: (one, other) => one.position - other.position,
  difference: last((one) => known(one.difference) ? -Math.abs(one.difference) : null),
  drop: last((one) => one.difference),
  gain: last((one) => known(one.difference) ? -one.difference : null),
  lowest: last((one) => one.values.length ? Math.min(...one.values) : null),
  highest: last((one) => one.values.length ? -Math.max(...one.values) : null),
  id: (one, other) => one.id < other.id ? -1 : Number(one.id > other.id),
};

// Smallest first; what was not measured comes last, whichever way the order runs.
function last(key) {
  return (one, other) => {
    const [a, b] = [key(one), key(other)];
    return known(a) && known(b) ? a - b || one.position - other.position : Number(!known(a)) - Number(!known(b));
  };
}

function arrange() {
  view.order = samples.filter(wanted).sort(SORTS[chosen('sort')]);
  view.page = 0;
  show();
}

function wanted(sample) {
  if (view.found && !view.found.has(sample.position)) return false;
  if (chosen('tag') && !sample.tags.includes(chosen('tag'))) return false;
  if (chosen('change') && changed(sample.difference) !== chosen('change')) return false;
  const asked = ['variant', 'state', 'verdict', 'assertion'].some(chosen);
  return !asked || sample.results.some(matches);
}

const changed = (by) => !known(by) ? '' : by > 0 ? 'better' : by < 0 ? 'worse' : 'same';

function matches(result) {
  const [variant, state, verdict, assertion] = ['variant', 'state', 'verdict', 'assertion'].map(chosen);
  return (!variant || result.variant === variant) && (!state || result.state === state)
    && (!verdict || (result.verdict ?? 'none') === verdict)
    && (!assertion || (assertion === '*' ? result.failed.length > 0 : result.failed.includes(assertion)));
}

function show() {
  const from = view.page * PAGE;
  const rows = view.order.slice(from, from + PAGE);
  byId('table').tBodies[0].replaceChildren(...rows.map(row));
  byId('status').textContent = status(from, rows.length);
  byId('back').disabled = view.page === 0;
  byId('forth').disabled = from + PAGE >= view.order.length;
}

function status(from, shown) {
  const all = samples.length.toLocaleString('en');
  const some = view.order.length.toLocaleString('en');
  const which = view.order.length === samples.length ? many(samples.length, 'sample') : `${some} of ${all} samples`;
  const range = view.order.length > PAGE ? `, ${from + 1} to ${from + shown} shown` : '';
  const none = samples.length ? which : 'The run has no samples.';
  return `${none}${range}${view.busy ? ' · still searching' : ''}`;
}

function turn(by) {
  view.page += by;
  show();
  byId('all').scrollIntoView();
}

function columns() {
  const scores = variants.map((name) => [name, 'value']);
  const difference = comparing ? [['Difference', 'n']] : [];
  return [['Sample'], ['Input', 'input'], ...scores, ...difference, ['Notes', 'notes']];
}

function headings(columns) {
  return make('tr', {}, columns.map(([name, kind = '']) => make('th', { scope: 'col', class: kind }, name)));
}

function row(sample) {
  const whose = variants.length > 2 && sample.difference ? make('div', { class: 'whose' }, sample.changed) : null;
  return make('tr', { 'data-position': sample.position },
    make('td', { class: 'id' }, make('a', { href: place(sample.id) }, sample.id || '(no id)'),
      make('div', { class: 'below narrow' }, sample.input)),
    make('td', { class: 'input' }, make('div', {}, sample.input)),
    variants.map((name) => make('td', { class: 'value' }, value(sample.by.get(name)))),
    comparing ? make('td', { class: 'n' }, by(sample.difference), whose) : null,
    make('td', { class: 'notes' }, notes(sample)));
}

function value(one) {
  if (!one.times) return '–';
  const shown = known(one.value) || one.worst === 'none' ? make('b', {}, figure(one.value)) : null;
  return [shown, ' ', one.grades ? make('span', { class: 'grade' }, one.grades, ' ') : '', one.worst === 'none' ? '' : marked(one.worst), one.times > 1 ? ` × ${one.times}` : ''];
}

let reach = 0;
for (const sample of samples) reach = Math.max(reach, Math.abs(sample.difference ?? 0));

// The number, and a bar from the middle to its side, as long as the difference is large.
function by(difference) {
  if (!known(difference)) return '–';
  const side = difference > 0 ? 'up' : 'down';
  const width = reach ? 25 * Math.abs(difference) / reach : 0;
  const bar = draw('rect', { class: side, x: difference > 0 ? 27 : 27 - width, y: 0, width, height: 9 });
  const middle = draw('line', { class: 'mid', x1: 27, x2: 27, y1: 0, y2: 9 });
  const spark = draw('svg', { class: 'spark', width: 54, height: 9, 'aria-hidden': 'true' }, bar, middle);
  return [make('span', { class: difference ? `${side}-text` : '' }, signed(difference)), spark];
}

function notes(sample) {
  const failed = new Set(sample.results.flatMap((one) => one.failed)).size;
  const flags = sample.results.reduce((sum, one) => sum + one.flags, 0);
  const said = [failed ? `${many(failed, 'assertion')} failed` : '', flags ? many(flags, 'flag') : ''].filter(Boolean);
  return [said.join(', '), ' ', sample.tags.map((tag) => [make('span', { class: 'tag' }, tag), ' '])];
}
