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
    const weights = ranges.filter((one) => one.dataset.kind === 'Weights');
    if (!map || !weights.length) return;
    place(map, '.stored', weights, (one) => Number(one.parentElement.querySelector('.was').textContent));
    place(map, '.here', weights, (one) => Number(one.value));
  }
  function place(map, name, weights, read) {
    const total = weights.reduce((sum, one) => sum + read(one), 0);
    const share = (label) => read(weights.find((one) => one.dataset.label === label)) / total;
    const side = Number(map.dataset.side);
    const dot = map.querySelector(name);
    dot.setAttribute('cx', share(map.dataset.across) * side);
    dot.setAttribute('cy', side - share(map.dataset.up) * side);
    dot.removeAttribute('hidden');
  }
  form.addEventListener('input', tell);
  new MutationObserver(tell).observe(document.querySelector('.what-if-shown'), { childList: true });
  tell();
})();
