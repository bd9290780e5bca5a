// Runs in the page: puts a performance mark at the end of the frame that first shows each message, by the number in its cell.
globalThis.arrivals = {
  start(columns) {
    const [seen, fresh, frameEnd] = [new Set(), [], new MessageChannel()];
    const heads = [...document.querySelectorAll('[data-testid=grid] th')];
    const places = columns.map((name) => heads.findIndex((head) => head.dataset.column === name));
    const body = document.querySelector('[data-testid=grid] tbody');
    const look = () => {
      const before = fresh.length;
      for (const { cells } of body.rows) {
        for (const place of places) {
          const stamp = cells[place]?.textContent.trim() ?? '';
          if (!/^-?\d+$/.test(stamp) || seen.has(stamp)) continue;
          seen.add(stamp);
          fresh.push(stamp);
        }
      }
      if (before === 0 && fresh.length > 0) frameEnd.port2.postMessage(null);
    };
    // Cells are written in an animation frame, and the observer is told before that frame is laid out and painted: the next task comes after it.
    frameEnd.port1.onmessage = () => fresh.splice(0).forEach((stamp) => performance.mark(`painted ${stamp}`));
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
