// An output with its marks: what judges quoted, what assertions found, what guards flagged.

const KINDS = { evidence: 'quoted by a judge', found: 'found by an assertion', amiss: 'found by an assertion that failed', flag: 'flagged by a guard' };

function output(result) {
  if (!result.output) return make('p', { class: 'quiet' }, 'There is no output.');
  const spans = spansOf(result);
  const kinds = Object.keys(KINDS).filter((kind) => spans.some((one) => one.kind === kind));
  const text = result.output.text ?? '';
  const shown = text ? highlighted(text, spans) : make('span', { class: 'quiet' }, 'The output is empty.');
  const key = kinds.map((kind) => [make('span', { class: `swatch ${kind}` }), ` ${KINDS[kind]} `]);
  return make('div', {}, make('div', { class: 'output prose', dir: 'auto' }, shown), make('p', { class: 'key' }, key));
}

function spansOf(result) {
  return [
    ...(result.judgments ?? []).flatMap((one) => (one.evidence ?? []).map(
      (quote) => ({ ...quote, kind: 'evidence', by: `${criterionName(one.criterion)} · ${one.judge}` }))),
    ...(result.assertions ?? []).map((one) => ({ ...one, kind: one.passed === false ? 'amiss' : 'found', by: one.name })),
    ...(result.findings ?? []).map((one) => ({ ...one, kind: 'flag', by: `${one.guard}: ${one.says}` })),
  ].filter((one) => known(one.start) && known(one.end) && one.start < one.end);
}

function highlighted(text, spans) {
  const at = units(text);
  const placed = spans.map((one) => ({ ...one, from: at(one.start), to: at(one.end) }));
  const cuts = [...new Set([0, text.length, ...placed.flatMap((one) => [one.from, one.to])])].sort((a, b) => a - b);
  return cuts.slice(1).map((end, index) => {
    const start = cuts[index];
    const over = placed.filter((one) => one.from <= start && end <= one.to);
    const piece = text.slice(start, end);
    if (!over.length) return piece;
    const kinds = [...new Set(over.map((one) => one.kind))].join(' ');
    const title = visible([...new Set(over.map((one) => one.by))].join('\n'));
    return make('mark', { class: kinds, title, 'data-from': start }, piece);
  });
}

// Places count characters; the script's own strings count halves of those beyond the first plane.
function units(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (place) => Math.max(0, Math.min(place, text.length));
  const starts = [0];
  for (const character of text) starts.push(starts.at(-1) + character.length);
  return (place) => starts[Math.max(0, Math.min(place, starts.length - 1))];
}

// A quotation; pressing it shows where it stands in the output.
function quotation(quote, text) {
  const button = make('button', { type: 'button', class: 'quote' }, `“${quote.text}”`);
  button.addEventListener('click', () => {
    const result = button.closest('.result');
    const from = units(text ?? '')(quote.start ?? -1);
    const mark = result.querySelector(`.output mark[data-from="${Number(from)}"]`);
    for (const one of result.querySelectorAll('mark.shown')) one.classList.remove('shown');
    mark?.classList.add('shown');
    mark?.scrollIntoView({ block: 'center' });
  });
  return button;
}
