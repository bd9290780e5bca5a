// Runs in the page: puts a performance mark at the end of the frame that first shows each message, by the number in its cell. A row that went by
// between two paints counts once all that is painted is newer.
globalThis.arrivals = {
  start(columns) {
    const [seen, fresh, frameEnd] = [new Set(), [], new MessageChannel()];
    const heads = [...document.querySelectorAll('[data-testid=grid] th')];
    const places = columns.map((name) => heads.findIndex((head) => head.dataset.column === name));
    const body = document.querySelector('[data-testid=grid] tbody');
    let unseen = 0;
    const note = (number) => {
      if (number < 0 || seen.has(number)) return;
      seen.add(number);
      fresh.push(number);
    };
    const look = () => {
      const before = fresh.length;
      const shown = [...body.rows].flatMap(({ cells }) => places.map((place) => cells[place]?.textContent ?? ''));
      const numbers = shown.filter((text) => /^-?\d+$/.test(text)).map(Number);
      numbers.forEach(note);
      for (const least = Math.min(...numbers); unseen < least && numbers.length > 0; unseen += 1) note(unseen);
      if (before === 0 && fresh.length > 0) frameEnd.port2.postMessage(null);
    };
    // Cells are written in an animation frame, and the observer is told before that frame is laid out and painted: the next task comes after it.
    frameEnd.port1.onmessage = () => fresh.splice(0).forEach((number) => performance.mark(`painted ${String(number)}`));
    new MutationObserver(look).observe(body, { subtree: true, childList: true, characterData: true });
    look();
  },
  get stamps() {
    return this.marks.map(({ name }) => name.split(' ')[1]);
  },
  get times() {
    return this.marks.map(({ startTime }) => performance.timeOrigin + startTime);
  },
  get marks() {
    return performance.getEntriesByType('mark').filter(({ name }) => name.startsWith('painted '));
  },
};
