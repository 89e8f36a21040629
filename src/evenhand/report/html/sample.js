// One sample in full: what was asked, and side by side what came out and how it was scored.

const TOO_OLD = 'This browser cannot unpack the texts in this file: any browser from 2023 on can.';

// The head at once, the texts when they are unpacked, unless another sample has been opened by then.
async function detail(sample) {
  const order = view.order.indexOf(sample);
  byId('detail-title').textContent = visible(sample.id || '(no id)');
  byId('detail-back').disabled = order <= 0;
  byId('detail-forth').disabled = order < 0 || order + 1 >= view.order.length;
  byId('detail-body').replaceChildren();
  const parts = await read(sample).then(
    (full) => [compared(sample), asked(full), extra(full), ...repeats(full.results)],
    () => [make('p', { class: 'notice' }, TOO_OLD)]);
  if (open === sample) byId('detail-body').replaceChildren(...parts);
}

// The variants in a line: on a narrow screen they stand below each other, and the second is far down.
function compared(sample) {
  if (!comparing) return '';
  const each = variants.map((name) => make('span', {}, `${name} `, value(sample.by.get(name))));
  const whose = variants.length > 2 && sample.difference ? ` (${sample.changed})` : '';
  const changed = known(sample.difference) ? make('span', {}, by(sample.difference)[0], whose) : null;
  return make('p', { class: 'compared' }, each, changed);
}

// A row for each repeat, with the variants side by side in it.
function repeats(results) {
  const names = [...new Set(results.map((one) => one.variant))];
  const numbers = [...new Set(results.map((one) => one.repeat))].sort((one, other) => one - other);
  return numbers.map((number) => make('section', { class: 'repeat' },
    numbers.length > 1 ? make('h3', {}, `Repeat ${number + 1} of ${numbers.length}`) : null,
    make('div', { class: 'results' }, names.map((name) => {
      const found = results.find((one) => one.variant === name && one.repeat === number);
      return found ? column(found) : absent(name);
    }))));
}

function absent(name) {
  const said = make('p', { class: 'quiet' }, 'There is no result of this repeat.');
  return make('article', { class: 'result' }, make('div', { class: 'head' }, make('h3', {}, name), said));
}

function asked(sample) {
  const parts = [
    ['Input', sample.messages ? sample.messages.map(message) : sample.input],
    ['Reference', sample.reference], ['Context', sample.context],
  ].filter(([, text]) => known(text) && text.length);
  return make('div', { class: 'asked' }, parts.map(([name, text]) => make('div', {}, make('h3', {}, name),
    make('div', { class: 'prose tall', dir: 'auto', tabindex: '0', role: 'group', 'aria-label': name },
      typeof text === 'string' || Array.isArray(text) ? text : written(text)))));
}

function extra(sample) {
  const facts = Object.entries({ ...(known(sample.cluster) ? { cluster: sample.cluster } : {}), ...sample.metadata });
  const tags = (sample.tags ?? []).map((tag) => make('span', { class: 'tag' }, tag));
  return make('div', { class: 'extra' }, tags, facts.map(([key, one]) => make('span', {}, `${key}: ${written(one)}`)));
}

function message(one) {
  return make('div', { class: 'message' }, make('div', { class: 'role' }, one.role), one.text);
}

// Eight parts in each column, so that the same part stands at the same height in all.
function column(result) {
  const role = facts.variants.find((one) => one.name === result.variant)?.role ?? '';
  const parts = [head(result), output(result), trace(result), findings(result), assertions(result),
    judgments(result), steps(result), calls(result)];
  return make('article', { class: `result ${role === 'treatment' ? 'treatment' : 'control'}` },
    parts.map((part) => part ?? make('div')));
}

function head(result) {
  const card = result.scorecard;
  const made = result.output ?? {};
  const numbers = [
    ['composite', known(result.composite) ? figure(result.composite) : ''],
    ['score', known(result.score) ? figure(result.score) : ''],
    ...Object.entries(result.layers ?? {}).map(([layer, one]) => [facts.layers[layer] ?? layer, known(one) ? figure(one) : '']),
    ['grade', [card?.grade, card?.label].filter(Boolean).join(' ')],
    ['latency', duration(made.latency_ms)],
    ['cost', dollars(made.cost)],
    ['turns', known(made.turns) ? String(made.turns) : ''],
    ['tokens', known(made.input_tokens ?? made.output_tokens) ? `${made.input_tokens ?? '–'} + ${made.output_tokens ?? '–'}` : ''],
    ['by', made.author ?? ''],
  ].filter(([, text]) => text !== '');
  const word = result.state === 'scored' ? result.verdict ?? 'none' : result.state;
  return make('div', { class: 'head' },
    make('h3', {}, result.variant, ' ', word === 'none' ? '' : marked(word)),
    result.why ? make('p', { class: result.state === 'scored' ? 'quiet' : 'bad' }, result.why) : null,
    make('p', { class: 'numbers' }, numbers.map(([name, text]) => make('span', {}, `${name} `, make('b', {}, text)))),
    card?.description ? make('p', { class: 'quiet' }, `${card.grade}: ${card.description}`) : null);
}

function part(title, items, list = 'ul') {
  if (!items.length) return null;
  return make('div', {}, make('h4', {}, title), list ? make(list, { class: 'plainlist' }, items) : items);
}

function trace(result) {
  return part('Tool calls', (result.output?.trace ?? []).map((one) => make('li', {},
    make('b', {}, one.name), make('pre', {}, `${written(one.input ?? '')}\n→ ${written(one.output ?? '')}`))));
}

function findings(result) {
  return part('Guards', (result.findings ?? []).map((one) => make('li', {},
    make('b', { class: 'bad' }, `${one.guard} `), `${one.says} `,
    make('span', { class: 'quiet' }, `(${one.rule}): “${one.text}”`))));
}

function assertions(result) {
  return part('Assertions', (result.assertions ?? []).map(assertion));
}

function assertion(one) {
  const word = one.passed === true ? 'pass' : one.passed === false ? 'fail' : 'none';
  const said = { pass: 'passed', fail: 'failed', none: 'unanswered' }[word];
  const kind = [one.layer, known(one.weight) && Number(one.weight) !== 1 ? `weight ${one.weight}` : ''];
  const looked = one.looked_for ? `looked for: ${one.looked_for}` : '';
  const told = [looked, one.found ? `found: ${shortened(one)}` : '', one.why_not].filter(Boolean);
  const inner = (one.parts ?? []).map((part) => typeof part === 'object' ? assertion(part) : make('li', {}, part));
  return make('li', {}, marked(word, said), ' ', make('b', {}, one.name), ' ',
    make('span', { class: 'quiet' }, kind.filter(Boolean).join(', ')),
    told.map((line) => make('div', { class: 'quiet prose' }, line)),
    inner.length ? make('ul', {}, inner) : null);
}

// A latency in three digits, unless those would stand on the other side of what is asked for.
function shortened(one) {
  const [, measured] = /^([\d.]+) ms$/.exec(one.found) ?? [];
  const [, most] = /([\d.]+) ms or less$/.exec(one.looked_for ?? '') ?? [];
  if (one.kind !== 'latency_max' || !measured || !most) return one.found;
  const short = Number(Number(measured).toPrecision(3));
  return (short <= Number(most)) === one.passed ? `${short} ms` : one.found;
}

// By criterion, so that judges who looked at the same thing stand together.
function judgments(result) {
  const criteria = [...new Set((result.judgments ?? []).map((one) => one.criterion))];
  return part('Judgments', criteria.map((criterion) => make('li', { class: 'judgment' },
    result.judgments.filter((one) => one.criterion === criterion).map((one) => opinion(one, result)))));
}

function opinion(one, result) {
  const text = result.output?.text;
  const spread = known(one.spread) ? `± ${figure(one.spread)}` : '';
  const score = [scored(one, result.own_rubric), one.band, spread];
  return make('div', { class: 'opinion' },
    make('div', { class: 'line' }, make('b', {}, criterionName(one.criterion)), make('span', { class: 'quiet' }, one.judge),
      make('b', {}, score.filter(Boolean).join(' '))),
    one.why_not ? make('div', { class: 'bad prose' }, one.why_not) : null,
    one.reason ? make('div', { class: 'prose' }, one.reason) : null,
    one.evidence?.length ? make('div', {}, one.evidence.map((quote) => [quotation(quote, text), ' '])) : null,
    one.from_trace?.length
      ? make('div', { class: 'prose' }, `Quoted from the trace: ${one.from_trace.map((text) => `“${text}”`).join(' ')}`) : null,
    one.absent?.length ? make('div', { class: 'prose' }, `Stated absent: ${one.absent.join('; ')}`) : null,
    one.feedback ? make('div', { class: 'quiet prose' }, `Advice: ${one.feedback}`) : null);
}

// Criteria of a rubric that the sample brings are listed behind the name of the rubric.
function scored(one, own) {
  if (!known(one.score)) return 'no score';
  const answer = { 0: 'no', 1: 'yes' }[one.score];
  const id = own?.startsWith('sample:') ? `${own.slice(7)}.${one.criterion}` : one.criterion;
  if (known(one.raw)) return `${figure(one.score)} (people's scale; the judge said ${figure(one.raw)})`;
  return answer && facts.answers.includes(id) ? answer : figure(one.score);
}

function steps(result) {
  const card = result.scorecard;
  const notes = [
    ...(card?.missing ?? []).map((one) => `${criterionName(one.criterion)} is missing: ${one.why}`),
    ...(card?.gates_failed ?? []).map((one) => `gate failed: ${written(one)}`),
    ...(card?.gates_open ?? []).map((one) => `gate not known: ${written(one)}`),
    ...(card?.statements ? [] : card?.flags ?? []).map((one) => `flag: ${written(one)}`),
    ...(card?.statements ? [] : card?.bonuses ?? []).map((one) => `bonus: ${written(one)}`),
    ...(card?.notes ?? []).map(written),
  ];
  const tables = [
    stepTable('Steps of the score', card?.steps), ...reviews(card),
    stepTable('Steps of the composite', result.composite_steps),
  ];
  return make('div', {}, part('Red flags and bonuses', (card?.statements ?? []).map(statement)), tables, part('Notes', notes.map((note) => make('li', {}, note))));
}

function statement(one) {
  const said = [one.kind === 'bonus' ? 'bonus' : 'red flag', one.judge].filter(Boolean).join(', ');
  return make('li', {}, make('b', {}, `${one.id} ${one.counted ? signed(one.counted) : 'not counted'} `),
    make('span', { class: 'quiet' }, said), one.why ? make('div', { class: 'prose' }, one.why) : null);
}

function reviews(card) {
  return (card?.reviews ?? []).map((one) => stepTable(`Steps of ${one.judge ?? 'a reviewer'}`, one.steps));
}

function stepTable(title, all) {
  if (!all?.length) return null;
  const heads = ['Step', 'Before', 'After', 'Why'].map((name, index) => (
    make('th', { scope: 'col', class: index % 3 ? 'n' : '' }, name)));
  return make('div', {}, make('h4', {}, title), make('table', {},
    make('thead', {}, make('tr', {}, heads)),
    make('tbody', {}, all.map((one) => make('tr', {},
      make('th', { scope: 'row' }, one.step), make('td', { class: 'n' }, exact(one.before)),
      make('td', { class: 'n' }, make('b', {}, exact(one.after))), make('td', {}, one.why))))));
}

// A number with the decimals it has, at most four; what is not a number as it stands.
function exact(value) {
  if (typeof value !== 'number') return value;
  return String(Number(value.toFixed(4))).replace('-', '−');
}

function calls(result) {
  return part('Replies of the judges', (result.calls ?? []).map(call), null);
}

function call(one) {
  const said = [
    known(one.seconds) ? duration(1000 * one.seconds) : '', one.cached ? 'from the cache' : '',
    one.attempts > 1 ? `${one.attempts} attempts` : '',
    known(one.output_tokens) ? `${one.input_tokens} + ${one.output_tokens} tokens` : '', dollars(one.cost),
  ];
  const reply = known(one.reply) ? make('pre', { tabindex: '0' }, one.reply)
    : make('p', { class: 'quiet' }, 'No reply was kept.');
  return make('details', {}, make('summary', {}, one.judge, one.failed ? ' (failed)' : ''),
    make('p', { class: 'quiet' }, said.filter(Boolean).join(' · ')),
    one.failed ? make('p', { class: 'bad' }, one.failed) : null, reply);
}
