// Labels by keyboard. The form works without it; with it, a key answers a question and the last one brings the next output.
(() => {
  'use strict';
  const work = () => document.getElementById('label-work');
  const questions = () => [...work().querySelectorAll('.question')];
  const address = document.querySelector('#label-progress[data-load]')?.dataset.load;
  let active = 0;
  let busy = false;  // Keys are dropped meanwhile: nobody answers what is not shown yet.

  function show() {
    const all = questions();
    all.forEach((one, at) => one.classList.toggle('active', at === active));
    const typed = all[active]?.querySelector('.typed');
    if (typed) typed.focus({ preventScroll: true });
    else if (document.activeElement?.closest?.('.question')) document.activeElement.blur();
    all[active]?.scrollIntoView({ block: 'nearest' });
  }

  async function send(form, changed = {}) {
    if (busy) return;
    busy = true;
    const body = new URLSearchParams(new FormData(form));
    for (const [name, value] of Object.entries(changed)) body.set(name, value);
    try {
      const answer = await fetch(form.getAttribute('action'), { method: 'POST', body });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const found = page.getElementById('label-work');
      if (!found) { location.reload(); return; }
      work().replaceWith(found);
      active = 0;
      setUp();
      refresh();
    } catch {
      const trouble = document.getElementById('label-trouble');
      if (trouble.hidden) { trouble.hidden = false; waitForService(trouble); }
    } finally {
      busy = false;
    }
  }

  // Nothing is sent again by itself: whoever answers sees when it can be saved.
  async function waitForService(trouble) {
    while (trouble.isConnected) {
      await new Promise((resolve) => { setTimeout(resolve, 3000); });
      try {
        await fetch(location.href, { method: 'GET' });
        trouble.textContent = 'The service answers again. Your answers are not saved yet: press Enter.';
        return;
      } catch { /* Not yet. */ }
    }
  }

  // Trust and widths take the whole run: asked for once at a time, and not after each key.
  let asking = false; let again = false;
  async function refresh() {
    if (!address) return;
    if (asking) { again = true; return; }
    asking = true;
    try {
      const answer = await fetch(address);
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const found = page.getElementById('label-progress');
      const old = document.getElementById('label-progress');
      if (answer.ok && found) {
        if (old.querySelector('details')?.open) found.querySelector('details').open = true;
        old.replaceWith(found);
      }
    } catch { /* The next answer asks again. */ }
    asking = false;
    if (again) { again = false; refresh(); }
  }
  function choose(key) {
    const found = questions()[active]?.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (!found) return false;
    found.checked = true;
    forward();
    return true;
  }

  function forward() {
    active += 1;
    if (active < questions().length) show();
    else send(work().querySelector('[data-label]'));
  }

  function back() {
    if (active > 0) {
      active = Math.min(active, questions().length) - 1;
      for (const one of questions()[active].querySelectorAll('[type="radio"]')) one.checked = false;
      show();
    } else {
      const undo = work().querySelector('[data-undo]');
      if (undo) send(undo.form, { action: 'undo' });
    }
  }

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const form = work().querySelector('[data-label]');
    const field = event.target.closest('input:not([type="radio"]), textarea, select');
    if (field?.matches('textarea')) {
      if (event.key === 'Escape') { event.preventDefault(); field.blur(); }
      return;
    }
    if (field?.matches('.typed')) {
      if (event.key === 'Enter') { event.preventDefault(); forward(); return; }
      if (event.key === 'c') { event.preventDefault(); field.value = ''; forward(); return; }
      if (/^[a-z]$/i.test(event.key) === false) return;
    } else if (field) return;
    if (busy) { event.preventDefault(); return; }
    const key = event.key.toLowerCase();
    if (form && choose(key)) event.preventDefault();
    else if (key === 'u' || key === 'backspace') { event.preventDefault(); back(); }
    else if (form && key === 'm') { event.preventDefault(); form.querySelector('textarea')?.focus(); }
    else if (form && key === 'enter' && active >= questions().length) { event.preventDefault(); send(form); }
  });

  function setUp() {
    const form = work().querySelector('[data-label]');
    work().querySelector('[autofocus]')?.focus();
    if (!form) return;
    form.classList.add('by-keys');
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      send(form, event.submitter?.value === 'undo' ? { action: 'undo' } : {});
    });
    form.addEventListener('focusin', (event) => {
      const at = questions().indexOf(event.target.closest('.question'));
      if (at >= 0 && at !== active) { active = at; questions().forEach((one, place) => one.classList.toggle('active', place === at)); }
    });
    show();
  }
  setUp();
})();
