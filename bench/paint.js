// Runs in the page: counts long tasks, and at every painted frame the rows that are on their way and the grids without a row.
globalThis.paint = {
  start() {
    const seen = (this.seen = { long: [], frames: [], waiting: 0, blank: 0, changes: 0, going: true });
    this.tasks = new PerformanceObserver((list) => list.getEntries().forEach((task) => seen.long.push(Math.round(task.duration))));
    this.tasks.observe({ entryTypes: ['longtask'] });
    const body = document.querySelector('[data-testid=grid] tbody');
    this.texts = new MutationObserver((records) => (seen.changes += records.filter(({ type }) => type === 'characterData').length));
    this.texts.observe(body, { subtree: true, characterData: true });
    let last = performance.now();
    const look = (now) => {
      seen.frames.push(now - last);
      last = now;
      seen.waiting += body.querySelector('tr:not([data-row-id])') !== null;
      seen.blank += body.querySelector('tr') === null;
      if (seen.going) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  },
  stop() {
    const { seen } = this;
    seen.going = false;
    this.tasks.disconnect();
    this.texts.disconnect();
    const frames = seen.frames.slice(1).sort((left, right) => left - right);
    const at = (share) => Math.round(10 * (frames[Math.floor(share * (frames.length - 1))] ?? 0)) / 10;
    const { long, waiting, blank, changes } = seen;
    return { frames: frames.length, frame_p50_ms: at(0.5), frame_p99_ms: at(0.99), frame_max_ms: at(1), long, waiting, blank, cell_changes: changes };
  },
  async scroll(seconds, step) {
    const scroll = document.querySelector('.live-table-scroll');
    const end = performance.now() + 1000 * seconds;
    while (performance.now() < end) {
      await new Promise(requestAnimationFrame);
      scroll.scrollTop += step;
    }
  },
};
