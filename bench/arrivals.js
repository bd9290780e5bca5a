// Runs in a tab of the table server's origin: notes when the TypeScript client first shows each message, by the number in its row.
globalThis.arrivals = {
  stamps: [],
  times: [],
  async start({ key, table, looks, columns }) {
    const { TableHub } = await import('/client/tablecast-client.js');
    const seen = new Set();
    this.hub = new TableHub({ url: location.origin, key });
    const note = ({ snapshot }) => {
      const now = performance.timeOrigin + performance.now();
      const places = columns.map((name) => snapshot.columns.findIndex((column) => column.name === name));
      for (const { cells } of snapshot.rows) {
        for (const place of places) {
          const stamp = cells[place];
          if (stamp === null || seen.has(stamp)) continue;
          seen.add(stamp);
          this.stamps.push(stamp);
          this.times.push(now);
        }
      }
    };
    const shown = ({ offset, size, sort }) =>
      new Promise((resolve) => {
        this.hub.open({ table, sort }, { offset, size }).watch((state) => {
          if (state.snapshot === null) return;
          note(state);
          resolve();
        });
      });
    await Promise.all(looks.map(shown));
  },
  stop() {
    return this.hub.close();
  },
};
