// Runs in the page: counts long tasks, and at every painted frame whether rows are on their way, and whether no row is seen where one should be.
globalThis.paint = {
  start() {
    const seen = (this.seen = { long: [], frames: [], waiting: 0, blank: 0, changes: 0, going: true });
    this.tasks = new PerformanceObserver((list) => list.getEntries().forEach((task) => seen.long.push(Math.round(task.duration))));
    this.tasks.observe({ entryTypes: ['longtask'] });
    const body = document.querySelector('[data-testid=grid] tbody');
    this.texts = new MutationObserver((records) => (seen.changes += records.filter(({ type }) => type === 'characterData').length));
    this.texts.observe(body, { subtree: true, characterData: true });
    const { port1: painted, port2: paint } = new MessageChannel();
    // Asked once the frame is painted, when nothing has to be laid out for the answer.
    painted.onmessage = () => (seen.blank += this.isBlank(body));
    let last = performance.now();
    const look = (now) => {
      seen.frames.push(now - last);
      last = now;
      seen.waiting += body.querySelector('tr:not([data-row-id])') !== null;
      paint.postMessage(null);
      if (seen.going) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  },
  // Whether a few heights of the view, down to the last row that fits, show something else than a row.
  isBlank(body) {
    const pane = body.closest('.live-table-scroll');
    const { left, top } = pane.getBoundingClientRect();
    const head = pane.querySelector('thead').offsetHeight;
    const tall = Math.min(pane.clientHeight - head, 28 * (Number(body.parentElement.getAttribute('aria-rowcount')) - 1));
    return [0.01, 0.25, 0.5, 0.75, 0.99].some((share) => !body.contains(document.elementFromPoint(left + 40, top + head + share * tall)?.closest('tr') ?? null));
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
