// Everything that a reader can press, and the way to one sample by the page's address.

const panel = byId('detail');
let open = null;

function follow() {
  const [, id] = /^#sample=(.*)$/.exec(location.hash) ?? [];
  if (id === undefined) return panel.close();
  let name = id;
  try { name = decodeURIComponent(id); } catch { /* Not an address of ours: looked up as it is. */ }
  return places.has(name) ? enter(places.get(name)) : panel.close();
}

function enter(sample) {
  open = sample;
  detail(sample);
  if (!panel.open) panel.showModal();
  panel.scrollTop = 0;
  byId('detail-title').focus();
}

function step(by) {
  const next = view.order[view.order.indexOf(open) + by];
  if (!next) return;
  address(place(next.id));
  enter(next);
}

// Without a trace in the history; some viewers of attachments do not let a page change its address at all.
function address(hash) {
  try { history.replaceState(null, '', hash); } catch { /* The sample opens all the same. */ }
}

function press(event) {
  const link = event.target.closest('a');
  const line = event.target.closest('tr');
  if (!line?.dataset.position || (link && (event.ctrlKey || event.metaKey || event.shiftKey))) return;
  event.preventDefault();
  if (!link && String(getSelection())) return;
  const sample = samples[Number(line.dataset.position)];
  line.querySelector('a').focus();
  address(place(sample.id));
  enter(sample);
}

function options(id, names) {
  const short = (name) => name.length > 60 ? `${name.slice(0, 59)}…` : name;
  byId(id).append(...names.map((name) => make('option', { value: name }, short(name))));
  if (!names.length) byId(id).parentElement.hidden = true;
}

function distinct(names) {
  return [...new Set(names)].sort().slice(0, 300);
}

function begin() {
  options('variant', variants.length > 1 ? variants : []);
  options('tag', distinct(samples.flatMap((one) => one.tags)));
  options('assertion', distinct(samples.flatMap((one) => one.results.flatMap((result) => result.failed))));
  if (!comparing) byId('change').parentElement.hidden = true;
  byId('table').tHead.replaceChildren(headings(columns()));
  lookFirst();
  byTag();
  adjusted();
  show();
  byId('browser').hidden = false;
}

let typed = 0;
function find() {
  clearTimeout(typed);
  search(chosen('search'), (found, done) => {
    view.found = found;
    view.busy = !done;
    arrange();
  });
}

byId('search').addEventListener('input', () => {
  clearTimeout(typed);
  typed = setTimeout(find, 120);
});
byId('clear').addEventListener('click', () => {
  byId('filters').reset();
  find();
});
byId('filters').addEventListener('submit', (event) => event.preventDefault());
for (const id of filters) byId(id).addEventListener('change', arrange);
byId('back').addEventListener('click', () => turn(-1));
byId('forth').addEventListener('click', () => turn(1));
byId('table').tBodies[0].addEventListener('click', press);
byId('first-table').addEventListener('click', press);
byId('adjusted-table')?.addEventListener('click', press);
byId('detail-close').addEventListener('click', () => panel.close());
byId('detail-back').addEventListener('click', () => step(-1));
byId('detail-forth').addEventListener('click', () => step(1));
panel.addEventListener('click', (event) => { if (event.target === panel) panel.close(); });
panel.addEventListener('close', () => { if (location.hash.startsWith('#sample=')) address('#samples'); });
addEventListener('hashchange', follow);
addEventListener('beforeprint', () => { for (const one of document.querySelectorAll('details')) one.open = true; });
begin();
if (location.hash.startsWith('#sample=')) follow();
