/**
 * Viewers of final_ui with Deephaven's own JavaScript client, each by a connection of its own. bench.peers.deephaven_viewers starts it.
 *
 * node deephaven_viewer.mjs FOLDER URL VIEWERS SECONDS STORE    FOLDER has the client's node_modules; STORE is for what the server gives of it
 *
 * Tells by a line of JSON how many viewers show the table, which is all of them unless the SECONDS were too few, then answers each line of JSON by one:
 *   {"do": "now"}                  the time, as it is noted for what arrives
 *   {"do": "state"}                messages seen by the viewer that saw the fewest, the newest number that all have passed
 *   {"do": "tell", "file": FILE}   writes a line of JSON a viewer: when each update came, how many rows it has, the sum of their numbers, and when it first
 *                                  saw each message
 *   {"do": "rows", "file": FILE}   writes what the first viewer has, a line of JSON a row
 * Ends when its standard input does.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [folder, url, viewers, seconds, store] = process.argv.slice(2);
const AT_ONCE = 10;
const KEY = 'userId';
const STAMPS = ['name', 'accountType'];
// Far more than a window of updates: Node's own window of 64 KiB would let the server wait for it.
const WINDOW = { sessionOptions: { settings: { initialWindowSize: 4 * 1024 * 1024 } } };

const client = path.join(folder, 'node_modules', '@deephaven', 'jsapi-nodejs', 'dist', 'index.js');
const { loadDhModules, NodeHttp2gRPCTransport } = await import(pathToFileURL(client));
const say = answer => process.stdout.write(`${JSON.stringify(answer)}\n`);
const now = () => performance.timeOrigin + performance.now();

/** One viewer: when it first saw each message, by its number. What was there before it came is not a number: nobody saw that arrive. */
class Viewer {
  times = new Map();
  seen = 0;
  newest = -1;
  updates = [];
  lost = false;

  async open(dh) {
    const core = new dh.CoreClient(url, { transportFactory: NodeHttp2gRPCTransport.createFactory(WINDOW) });
    await core.login({ type: dh.CoreClient.LOGIN_TYPE_ANONYMOUS });
    const connection = await core.getAsIdeConnection();
    connection.addEventListener(dh.IdeConnection.EVENT_DISCONNECT, () => (this.lost = true));
    const table = await connection.getObject({ type: 'Table', name: 'final_ui' });
    this.key = table.findColumn(KEY);
    this.stamps = STAMPS.map(name => table.findColumn(name));
    await new Promise(shown => {
      const subscription = table.createSubscription({ columns: [this.key, ...this.stamps] });
      subscription.addEventListener(dh.Table.EVENT_DISCONNECT, () => (this.lost = true));
      subscription.addEventListener('updated', event => {
        const moment = now();
        this.take(event.detail, this.updates.length ? moment : NaN);
        this.updates.push(moment);
        shown();
      });
    });
  }

  take(data, moment) {
    this.data = data;
    for (const rows of [data.added, data.modified]) {
      each(rows, row => this.stamps.forEach(column => this.note(data.getData(row, column), moment)));
    }
  }

  note(cell, moment) {
    const number = cell == null ? -1 : Number(cell);
    if (number < 0 || this.times.has(number)) return;
    this.times.set(number, moment);
    if (Number.isNaN(moment)) return;
    this.seen += 1;
    this.newest = Math.max(this.newest, number);
  }

  /** Negative numbers are in the sum too: they are of rows that nobody measures. */
  tell() {
    let [rows, sum] = [0, 0];
    each(this.data.fullIndex, row => {
      rows += 1;
      for (const column of this.stamps) sum += Number(this.data.getData(row, column) ?? 0);
    });
    const seen = [...this.times].filter(([, moment]) => !Number.isNaN(moment));
    const [numbers, times] = [seen.map(([number]) => number), seen.map(([, moment]) => moment)];
    return { updates: this.updates, lost: this.lost, rows, sum, numbers, times };
  }

  rows() {
    const rows = [];
    each(this.data.fullIndex, row => {
      const [userId, name, accountType] = [this.key, ...this.stamps].map(column => this.data.getData(row, column) ?? null);
      rows.push({ userId, name, accountType });
    });
    return rows;
  }
}

function each(rows, take) {
  const steps = rows.iterator();
  while (steps.hasNext()) take(steps.next().value);
}

async function opened(dh) {
  const open = [];
  const waiting = Array.from({ length: Number(viewers) }, () => new Viewer());
  const door = async () => {
    for (let viewer = waiting.pop(); viewer; viewer = waiting.pop()) {
      await viewer.open(dh);
      open.push(viewer);
    }
  };
  let late;
  const patience = new Promise(resolve => (late = setTimeout(resolve, 1000 * Number(seconds))));
  await Promise.race([Promise.all(Array.from({ length: AT_ONCE }, door)), patience]);
  clearTimeout(late);
  waiting.length = 0;
  return [...open];
}

function write(file, lines) {
  writeFileSync(file, lines.map(line => `${JSON.stringify(line)}\n`).join(''));
}

function state(open) {
  return {
    seen: Math.min(...open.map(viewer => viewer.seen)),
    newest: Math.min(...open.map(viewer => viewer.newest)),
  };
}

const input = createInterface({ input: process.stdin });
input.on('close', () => process.exit(0));
const dh = await loadDhModules({ serverUrl: new URL(url), storageDir: store, targetModuleType: 'esm' });
const open = await opened(dh);
const doing = {
  now: () => ({ now: now() }),
  state: () => state(open),
  tell: ({ file }) => {
    write(file, open.map(viewer => viewer.tell()));
    return {};
  },
  rows: ({ file }) => {
    write(file, open[0].rows());
    return {};
  },
};
input.on('line', line => {
  const question = JSON.parse(line);
  try {
    say(doing[question.do](question));
  } catch (error) {
    say({ error: String(error) });
  }
});
say({ opened: open.length });
