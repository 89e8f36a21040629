// Small conveniences: every page works without them, but for what shows a run while it goes on.
(() => {
  'use strict';
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  function setUpTheme() {
    const button = document.getElementById('theme');
    const root = document.documentElement;
    button.hidden = false;
    button.addEventListener('click', () => {
      const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
      root.dataset.theme = dark ? 'light' : 'dark';
      document.cookie = `evenhand_theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
    });
  }

  // Whatever gets no answer is told at the foot of the page, and asked again until there is one or nobody wants it.
  const RETRY_AFTER = 3000;
  const unanswered = new Set();
  const describeTrouble = () => `No connection to Evenhand since ${new Date().toLocaleTimeString('en-GB')}. Trying again…`;
  function reach(one, there) {
    const trouble = document.getElementById('trouble');
    if (there) unanswered.delete(one); else unanswered.add(one);
    if (unanswered.size && trouble.hidden) trouble.textContent = describeTrouble();
    trouble.hidden = unanswered.size === 0;
  }

  async function ask(address, how = {}, isWanted = () => true, fail = () => {}) {
    const one = {};
    try {
      while (isWanted()) {
        try {
          const answer = await fetch(address, { headers: { accept: 'text/html' }, ...how });
          return new DOMParser().parseFromString(await answer.text(), 'text/html');
        } catch {
          reach(one, false);
          fail();
          await new Promise((resolve) => { setTimeout(resolve, RETRY_AFTER); });
        }
      }
      return null;
    } finally {
      reach(one, true);
    }
  }

  // A form with data-swap asks as it is changed, and the part of the page that it names takes the answer's place.
  let asked = 0;
  async function swap(address, name) {
    const number = ++asked;
    document.getElementById(name).setAttribute('aria-busy', 'true');
    const page = await ask(address, {}, () => number === asked);
    if (!page || number !== asked) return;
    const found = page.getElementById(name);
    if (!found) { location.assign(address); return; }
    document.getElementById(name).replaceWith(found);
    history.replaceState(null, '', address);
    setUpPart(found);
  }

  // What takes longer is asked for once the page is there.
  async function load(place) {
    const page = await ask(place.dataset.load, {}, () => place.isConnected);
    if (!page) return;
    const found = page.getElementById(place.id) ?? page.querySelector('main > section');
    place.replaceWith(found);
    setUpPart(found);
  }

  function setUpSwaps(within) {
    for (const form of all('form[data-swap]', within)) {
      let waiting;
      const ask = () => swap(`${form.getAttribute('action')}?${new URLSearchParams(filled(form))}`, form.dataset.swap);
      form.addEventListener('submit', (event) => { event.preventDefault(); ask(); });
      form.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(ask, 200); });
    }
    for (const link of all('a[data-swap]', within)) {
      link.addEventListener('click', (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        swap(link.href, link.dataset.swap);
      });
    }
  }

  const filled = (form) => [...new FormData(form)].filter(([, value]) => value !== '');

  // A form is sent once: a held key or a second click does nothing until the answer is there.
  function setUpSending() {
    document.addEventListener('submit', (event) => {
      const form = event.target;
      if (event.defaultPrevented || form.method !== 'post') return;
      if (form.dataset.sent) { event.preventDefault(); return; }
      form.dataset.sent = 'true';
      const button = event.submitter;
      // Only now: what a disabled button says is not sent.
      setTimeout(() => {
        for (const one of all('button', form)) one.disabled = true;
        if (button?.dataset.busy) { button.dataset.said = button.textContent; button.textContent = button.dataset.busy; }
      });
    });
    addEventListener('pageshow', (event) => {
      if (!event.persisted) return;
      for (const form of all('form[data-sent]')) {
        delete form.dataset.sent;
        for (const one of all('button', form)) { one.disabled = false; one.textContent = one.dataset.said ?? one.textContent; }
      }
    });
  }

  // Two are compared: a third tick takes the first one away. The bar names what is ticked, and what is not any more.
  function setUpTicks(within) {
    for (const form of all('form[data-pick="2"]', within)) {
      const button = form.querySelector('button.main');
      if (!button) continue;
      const ticked = () => all('input[type="checkbox"]:checked', form);
      const says = form.querySelector('[data-picked]');
      const hint = says.textContent;
      let order = ticked();
      const several = new Set(all('[data-eval]', form).map((one) => one.dataset.eval)).size > 1;
      const name = (one) => several ? `${one.dataset.eval}, ${one.dataset.name}` : one.dataset.name;
      const show = (left) => {
        button.disabled = order.length !== 2;
        const names = [...order].sort((one, other) => one.value < other.value ? -1 : 1).map(name);
        const told = names.length === 2 ? `Control: ${names[0]}. Treatment: ${names[1]}.`
          : names.length ? `Ticked: ${names[0]}. Tick one more.` : hint;
        says.textContent = left ? `${told} No longer ticked: ${name(left)}.` : told;
      };
      form.addEventListener('change', (event) => {
        order = [...order.filter((one) => one !== event.target), ...(event.target.checked ? [event.target] : [])];
        const left = order.length > 2 ? order.shift() : null;
        if (left) left.checked = false;
        show(left);
      });
      show(null);
    }
  }

  // A text is checked as it is written; each message stands beside its line.
  function setUpEditor() {
    const form = document.querySelector('form[data-check]');
    if (!form) return;
    const text = form.querySelector('textarea');
    let waiting; let number = 0;
    text.addEventListener('input', () => {
      number += 1;  // What was said is about another text.
      for (const id of [form.dataset.check, 'drawn']) document.getElementById(id).setAttribute('aria-busy', 'true');
      clearTimeout(waiting);
      waiting = setTimeout(check, 400);
    });
    text.addEventListener('scroll', place);
    const gutter = document.createElement('pre');
    gutter.className = 'gutter';
    gutter.setAttribute('aria-hidden', 'true');
    text.before(gutter);
    const numberLines = () => { gutter.textContent = text.value.split('\n').map((_, at) => at + 1).join('\n'); };
    const follow = () => { gutter.scrollTop = text.scrollTop; };
    text.addEventListener('input', numberLines);
    text.addEventListener('scroll', follow);
    new ResizeObserver(() => { gutter.style.height = `${text.offsetHeight}px`; follow(); place(); }).observe(text);
    numberLines();
    addEventListener('resize', place);
    form.addEventListener('click', (event) => {
      const one = event.target.closest('.line-link')?.closest('[data-line]');
      if (!one) return;
      event.preventDefault();
      select(Number(one.dataset.line));
    });
    place();

    async function check() {
      const mine = ++number;
      const body = new URLSearchParams({ text: text.value, action: 'check' });
      const isWanted = () => mine === number;
      const page = await ask(form.getAttribute('action'), { method: 'POST', body }, isWanted, () => {
        if (isWanted()) refuse('Not checked yet: the service does not answer.');
      });
      if (!page || !isWanted()) return;
      if (!page.getElementById(form.dataset.check)) {
        refuse(`Not checked: ${page.querySelector('h1')?.textContent ?? 'the service refused it'}.`);
        return;
      }
      for (const id of [form.dataset.check, 'drawn']) document.getElementById(id).replaceWith(page.getElementById(id));
      place();
    }

    // No answer must not leave the last one standing.
    function refuse(why) {
      const said = document.createElement('p');
      said.className = 'notice bad';
      said.textContent = why;
      document.getElementById('messages').replaceChildren(said);
      document.getElementById(form.dataset.check).removeAttribute('aria-busy');
    }

    function place() {
      const list = form.querySelector('.messages');
      if (!list) return;
      const beside = getComputedStyle(form).gridTemplateColumns.split(' ').length > 1;
      list.classList.toggle('placed', beside);
      const style = getComputedStyle(text);
      const height = parseFloat(style.lineHeight);
      let free = -Infinity;
      for (const one of list.children) {
        const wanted = parseFloat(style.paddingTop) + (Math.max(1, Number(one.dataset.line)) - 1) * height - text.scrollTop;
        const top = Math.max(wanted, free + 6);
        one.style.top = beside ? `${top}px` : '';
        free = top + one.offsetHeight;
      }
    }

    function select(line) {
      const lines = text.value.split('\n');
      const start = lines.slice(0, Math.max(0, line - 1)).join('\n').length + (line > 1 ? 1 : 0);
      text.focus();
      text.setSelectionRange(start, start + (lines[line - 1] ?? '').length);
    }
  }

  // j and k go through the rows of a list, Enter opens one, / begins to search, ? tells the keys.
  function setUpKeys() {
    const help = document.getElementById('keys');
    const open = document.getElementById('keys-open');
    open.hidden = false;
    open.addEventListener('click', () => help.showModal());
    document.addEventListener('keydown', (event) => {
      if (help.open) return;
      if (event.target.closest('input, textarea, select') || event.ctrlKey || event.metaKey || event.altKey) return;
      const search = document.querySelector('input[type="search"]');
      if (event.key === '?') { event.preventDefault(); help.showModal(); }
      if (event.key === '/' && search) { event.preventDefault(); search.focus(); }
      if (event.key === 'j' || event.key === 'k') step(event.key === 'j' ? 1 : -1);
      if (event.key === '[' || event.key === ']') document.querySelector(`a[rel="${event.key === '[' ? 'prev' : 'next'}"]`)?.click();
    });
  }

  function step(by) {
    const links = all('.listing tbody .id a');
    const at = links.indexOf(document.activeElement);
    const next = links[Math.max(0, Math.min(links.length - 1, at + by))];
    next?.focus();
  }

  // A run while it goes on: the server sends the same piece of the page anew; when it is over, the whole page is loaded.
  function setUpLive() {
    const place = document.querySelector('[data-live]');
    if (!place) return;
    const trouble = document.getElementById('live-trouble');
    const reach = (there) => {
      if (!there && trouble.hidden) {
        trouble.textContent = describeTrouble();
      }
      trouble.hidden = there;
      place.setAttribute('aria-busy', String(!there));
      for (const one of all('form.actions button')) one.disabled = !there;
    };
    const connect = () => {
      const source = new EventSource(place.dataset.live);
      source.addEventListener('open', () => reach(true));
      source.addEventListener('error', () => {
        reach(false);
        if (source.readyState === EventSource.CLOSED) setTimeout(connect, 3000);  // Else the browser tries by itself.
      });
      source.addEventListener('progress', (event) => {
        const page = new DOMParser().parseFromString(event.data, 'text/html');
        place.replaceChildren(...page.body.childNodes);
      });
      source.addEventListener('end', () => { source.close(); location.replace(location.pathname); });  // From its top.
    };
    connect();
  }

  // What happens in a contest is announced; whoever reads decides when the page changes.
  function setUpFollowing() {
    const note = document.querySelector('[data-follow]');
    if (!note) return;
    const connect = () => {
      const source = new EventSource(note.dataset.follow);
      source.addEventListener('open', () => reach(note, true));
      source.addEventListener('error', () => {
        reach(note, false);
        if (source.readyState === EventSource.CLOSED) setTimeout(connect, RETRY_AFTER);  // Else the browser tries.
      });
      source.addEventListener('changed', (event) => {
        note.hidden = false;
        if (event.data === 'closed') source.close();  // Nothing more comes.
      });
    };
    connect();
  }

  function setUpPart(within) {
    for (const place of all('[data-load]', within)) load(place);
    setUpSwaps(within);
    setUpTicks(within);
    for (const row of all('.listing tbody tr', within)) {
      row.addEventListener('click', (event) => {
        if (!event.target.closest('a, input, label, button') && !getSelection().toString()) row.querySelector('.id a')?.click();
      });
    }
  }

  setUpTheme();
  setUpKeys();
  setUpSending();
  setUpLive();
  setUpEditor();
  setUpFollowing();
  setUpPart(document);
})();
