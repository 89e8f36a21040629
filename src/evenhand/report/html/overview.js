// Where to look first: the samples that changed most and the lowest ones with their criteria, and the scores by tag.

const MOST_TAGS = 12;
const MOST_CRITERIA = 10;
const comparing = known(control) && variants.length > 1;
const naming = variants.length > (comparing ? 2 : 1); // A column must say whose row it is.

// A row for each sample and treatment, or for each sample where there is nothing to compare.
function rows() {
  const shown = comparing ? variants.filter((name) => name !== control) : variants;
  return samples.flatMap((sample) => shown.map((name) => {
    const [from, to] = [comparing ? sample.by.get(control).value : null, sample.by.get(name).value];
    return { sample, name, from, to, change: minus(to, from) };
  }));
}

// What has no score, what changed most, and the lowest of those that did not pass; each row in one group only.
function groups() {
  const all = rows();
  const lost = group('No score', all.filter((one) => lacks(one, all[0].name)), (one) => one.sample.position, 3);
  const changed = comparing ? [
    group(`Lower than ${control}`, all.filter((one) => one.change < 0), (one) => one.change, 5),
    group(`Higher than ${control}`, all.filter((one) => one.change > 0), (one) => -one.change, 3),
  ] : [];
  if (comparing) changed[0].tells = all.some((one) => known(one.change));
  const seen = new Set([lost, ...changed].flatMap((one) => one.shown));
  const passed = (one) => one.sample.by.get(one.name).worst === 'pass';
  const rest = all.filter((one) => known(one.to) && !seen.has(one) && !passed(one));
  const [title, few] = comparing ? ['Lowest of the rest', 3] : ['Lowest', 5];
  return [lost, ...changed, group(title, rest, (one) => one.to, few)];
}

// Where the control has no score, the sample is listed once, with the first treatment.
function lacks(one, first) {
  return !known(one.to) || (comparing && !known(one.from) && one.name === first);
}

function group(title, all, key, few) {
  const shown = [...all].sort((one, other) => key(one) - key(other)).slice(0, few);
  return { title, shown, total: all.length, tells: false };
}

function lookFirst() {
  const shown = groups();
  const all = shown.flatMap((one) => one.shown);
  if (!all.length) return;
  const asked = [...new Set(all.flatMap((one) => Object.keys(criteriaOf(one.sample, one.name))))];
  const criteria = asked.slice(0, MOST_CRITERIA);
  const own = naming ? 'Value' : variants.find((name) => name !== control) ?? control;
  const heads = [['Sample'], ...(naming ? [['Variant', 'variant']] : []), ...(comparing ? [[control, 'value']] : []),
    [own, 'value'], ...(comparing ? [['Difference', 'n']] : []), ...criteria.map((id) => [criterionName(id), 'criterion'])];
  byId('first-table').tHead.replaceChildren(headings(heads));
  byId('first-table').append(...shown.flatMap((one) => section(one, criteria, heads.length)));
  const more = asked.length - criteria.length;
  byId('first-more').textContent = more > 0 ? `${many(more, 'more criterion', 'more criteria')}: open a sample.` : '';
  byId('first').hidden = false;
}

// That nothing fell is news; any other group is left out where it is empty.
function section(one, criteria, width) {
  if (!one.shown.length && !one.tells) return [];
  const count = !one.total ? 'none' : one.total > one.shown.length
    ? `${one.shown.length} of ${one.total.toLocaleString('en')} shown` : String(one.total);
  const title = make('th', { scope: 'rowgroup', colspan: width }, one.title, ' ',
    make('span', { class: 'quiet' }, count));
  return [make('tbody', {}, make('tr', { class: 'group' }, title), one.shown.map((row) => firstRow(row, criteria)))];
}

function firstRow(one, criteria) {
  const { sample } = one;
  const values = comparing ? [control, one.name] : [one.name];
  const [old, now] = [comparing ? criteriaOf(sample, control) : {}, criteriaOf(sample, one.name)];
  return make('tr', { 'data-position': sample.position },
    make('td', { class: 'id' }, make('a', { href: place(sample.id) }, sample.id || '(no id)'),
      make('div', { class: 'below' }, sample.input)),
    naming ? make('td', { class: 'variant' }, make('div', {}, one.name)) : null,
    values.map((name) => make('td', { class: 'value' }, value(sample.by.get(name)))),
    comparing ? make('td', { class: 'n' }, by(one.change)) : null,
    criteria.map((id) => make('td', { class: 'criterion' }, answer(id, old[id], now[id]))));
}

// What moved is shown from old to new; what did not, once.
function answer(id, old, now) {
  if (!known(now)) return '–';
  const yesNo = facts.answers.includes(id);
  const told = (one) => yesNo ? scored({ criterion: id, score: one }) : exact(Number(one.toFixed(2)));
  if (!known(old) || old === now) return make('span', { class: known(old) ? 'quiet' : '' }, told(now));
  return make('span', { class: now > old ? 'up-text' : 'down-text' }, `${told(old)} → ${told(now)}`);
}

// The mean of each criterion over the repeats of a sample.
function criteriaOf(sample, name) {
  const sums = new Map();
  for (const one of sample.results.filter((result) => result.variant === name)) {
    for (const [id, score] of Object.entries(one.criteria)) {
      const [sum, n] = sums.get(id) ?? [0, 0];
      if (known(score)) sums.set(id, [sum + Number(score), n + 1]);
    }
  }
  return Object.fromEntries([...sums].map(([id, [sum, n]]) => [id, sum / n]));
}

const mean = (numbers) => numbers.length ? numbers.reduce((sum, one) => sum + one, 0) / numbers.length : null;

// Differences are of samples scored with both, so that a sample which one variant lost does not move them.
function tagged(tag, those) {
  const of = (name) => mean(those.map((one) => one.by.get(name).value).filter(known));
  const changes = (name) => those.map((one) => minus(one.by.get(name).value, one.by.get(control).value)).filter(known);
  const treatments = comparing ? variants.filter((name) => name !== control) : [];
  const found = new Map(treatments.map((name) => [name, mean(changes(name))]));
  const means = new Map(variants.map((name) => [name, of(name)]));
  const order = comparing ? [...found.values()] : [...means.values()];
  return { tag, n: those.length, means, changes: found, order: Math.min(...order.map((one) => one ?? Infinity)) };
}

function byTag() {
  const names = distinct(samples.flatMap((one) => one.tags));
  const bare = samples.filter((one) => !one.tags.length);
  const all = names.map((tag) => tagged(tag, samples.filter((one) => one.tags.includes(tag))));
  if (bare.length) all.push(tagged('', bare));
  if (!names.length || all.length < 2 || !samples.some((one) => one.values.length)) return;
  all.sort((one, other) => one.order - other.order || 0);
  const heads = [['Tag'], ['Samples', 'n'], ...variants.map((name) => [name, 'n']),
    ...(comparing && variants.length === 2 ? [['Difference', 'n']] : [])];
  byId('tag-table').tHead.replaceChildren(headings(heads));
  byId('tag-table').tBodies[0].replaceChildren(...all.slice(0, MOST_TAGS).map(tagRow));
  const more = all.length - MOST_TAGS;
  byId('tag-more').textContent = more > 0 ? `${many(more, 'more tag')}: choose one among the filters below.` : '';
  byId('by-tag').hidden = false;
}

function tagRow(one) {
  const two = comparing && variants.length === 2;
  const cells = variants.map((name) => make('td', { class: 'n' }, make('b', {}, figure(one.means.get(name))),
    !two && one.changes.has(name) ? make('span', { class: 'bounds' }, signed(one.changes.get(name))) : null));
  const count = make('td', { class: 'n' }, one.n.toLocaleString('en'));
  return make('tr', {}, make('th', { scope: 'row' }, one.tag ? picker(one.tag) : 'no tag'), count, cells,
    two ? make('td', { class: 'n' }, by([...one.changes.values()][0])) : null);
}

function picker(tag) {
  const button = make('button', { type: 'button', class: 'pick' }, tag);
  button.addEventListener('click', () => {
    byId('tag').value = tag;
    arrange();
    byId('all').scrollIntoView();
  });
  return button;
}

const MOST_ADJUSTED = 20;

// The outputs that red flags or bonuses moved: from what, by what and why, to what.
function adjusted() {
  const all = samples.flatMap((sample) => sample.results.filter((one) => one.moved).map((one) => [sample, one]));
  if (!all.length || !byId('adjusted')) return;
  const heads = [['Sample'], ['Variant'], ['Before', 'n'], ['Red flags and bonuses'], ['Score', 'n'], ['Grade']];
  byId('adjusted-table').tHead.replaceChildren(headings(heads.filter(([name]) => variants.length > 1 || name !== 'Variant')));
  byId('adjusted-table').tBodies[0].replaceChildren(...all.slice(0, MOST_ADJUSTED).map(adjustedRow));
  const more = all.length - MOST_ADJUSTED;
  byId('adjusted-more').textContent = more > 0 ? `${many(more, 'more output')}: open a sample.` : '';
  byId('adjusted').hidden = false;
}

function adjustedRow([sample, { variant, grade, moved: [before, said, score] }]) {
  return make('tr', { 'data-position': sample.position },
    make('td', { class: 'id' }, make('a', { href: place(sample.id) }, sample.id || '(no id)')),
    variants.length > 1 ? make('td', {}, variant) : null,
    make('td', { class: 'n' }, figure(before)), make('td', {}, said),
    make('td', { class: 'n' }, make('b', {}, figure(score))), make('td', {}, grade ?? '–'));
}
