// Sliders say their numbers, and a dot on the map says where the weights stand. The server answers; nothing is scored here.
(() => {
  'use strict';
  const form = document.getElementById('what-if-controls');
  if (!form) return;
  const ranges = [...form.querySelectorAll('[type="range"]')];
  const number = (value) => String(Number(Number(value).toFixed(3)));
  // A slider stands beside a number that is between two of its steps; until it is moved, the number is told.
  const given = new Map(ranges.map((one) => [one, [one.value, one.parentElement.querySelector('output').value]]));
  const shown = (one) => one.value === given.get(one)[0] ? given.get(one)[1] : number(one.value);
  // The server says which share each weight has; what it said last stands beside the sliders.
  function tellShares() {
    for (const one of document.querySelectorAll('[data-share-of]')) {
      form.querySelector(`[data-share="${one.dataset.shareOf}"]`).textContent = one.textContent;
    }
  }
  function tell() {
    tellShares();
    for (const one of ranges) {
      one.parentElement.querySelector('output').value = shown(one);
      one.parentElement.classList.toggle('changed', one.parentElement.querySelector('.was').textContent.trim() !== shown(one));
    }
    const map = document.querySelector('#weight-map svg');
    const told = document.getElementById('what-if-leaf-shares');
    if (!map || !told) return;
    const shares = JSON.parse(told.dataset.shares);
    place(map, '.here', shares, 0);
    place(map, '.stored', shares, 1);
  }
  // The axes of the map are criteria that judges answer; what each weighs in the whole, now and stored, the server says.
  function place(map, name, shares, when) {
    const across = shares[map.dataset.across];
    const up = shares[map.dataset.up];
    if (!across || !up) return;
    const side = Number(map.dataset.side);
    const dot = map.querySelector(name);
    dot.setAttribute('cx', across[when] * side);
    dot.setAttribute('cy', side - up[when] * side);
    dot.removeAttribute('hidden');
  }
  // The map follows all that was moved; it takes longer than the rest, and is asked for once the hand rests.
  let waiting;
  let asked = 0;
  async function redraw() {
    const number = ++asked;
    const old = document.getElementById('weight-map');
    old.setAttribute('aria-busy', 'true');
    const sent = new URLSearchParams(new FormData(form));
    try {
      const answer = await fetch(`${form.getAttribute('action')}/map?${sent}`, { headers: { accept: 'text/html' } });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const found = page.getElementById('weight-map');
      if (number === asked && found) document.getElementById('weight-map').replaceWith(found);
    } catch {  // The foot of the page says that nobody answers; the map is asked for again until somebody does.
      if (number === asked) waiting = setTimeout(redraw, 3000);
    }
  }
  form.addEventListener('input', () => {
    tell();
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 400);
  });
  new MutationObserver(tell).observe(document.querySelector('.what-if-shown'), { childList: true });
  tell();
})();
