import { beforeEach, describe, expect, it, vi } from 'vitest';
import { errorMessage, FakeWorld, frame, opened } from '../testing/index.ts';
import { TableHub } from './hub.ts';

const COLUMNS = [{ name: 'n', type: 'int64' }];
const VIEW = { table: 'users_ui' };

let world: FakeWorld;
let hub: TableHub;

beforeEach(() => {
  world = new FakeWorld();
  hub = new TableHub({ url: 'localhost:10000', key: 'sesame' }, world.environment);
});

const answer = (sub: number, rows = { a: { n: '1' } }) => {
  world.socket.say(opened(sub, COLUMNS));
  world.socket.say(frame(sub, rows));
};

describe('sharing', () => {
  it('opens a view once, however many hold it', () => {
    world.socket.welcome();
    const holds = [hub.open(VIEW), hub.open(VIEW), hub.open({ table: 'users_ui', search: null })];
    answer(1);
    expect(world.socket.heard('open').length).toBe(1);
    expect(hub.subscriptions).toBe(1);
    expect(holds.map((hold) => hold.value.snapshot?.total)).toEqual([1, 1, 1]);
  });

  it('opens another view of the same table apart', () => {
    world.socket.welcome();
    hub.open(VIEW);
    hub.open({ ...VIEW, search: 'smith' });
    expect(world.socket.heard('open').map(({ sub, search }) => [sub, search])).toEqual([
      [1, undefined],
      [2, 'smith'],
    ]);
  });

  it('waits with opening until the login is answered', () => {
    hub.open(VIEW);
    world.socket.accept();
    expect(world.socket.heard('open')).toEqual([]);
    world.socket.welcome();
    expect(world.socket.heard('open')).toEqual([
      { type: 'open', sub: 1, request: 1, table: 'users_ui', offset: 0, size: 300, ahead: 2 },
    ]);
  });

  it('closes only when the last holder does', async () => {
    world.socket.welcome();
    const [first, second] = [hub.open(VIEW), hub.open(VIEW)];
    await first.close();
    expect(world.socket.heard('close')).toEqual([]);
    void second.close();
    expect(world.socket.heard('close')).toEqual([{ type: 'close', sub: 1 }]);
    expect(hub.subscriptions).toBe(0);
  });
});

describe('windows of one view', () => {
  const [HEAD, TAIL] = [
    { offset: 0, size: 50 },
    { offset: 900, size: 50 },
  ];
  const opens = () => world.socket.heard('open').map(({ sub, offset }) => [sub, offset]);
  const windowAnswer = (sub: number, offset: number, change = {}) => {
    world.socket.say(opened(sub, COLUMNS));
    world.socket.say(frame(sub, { [`at ${String(offset)}`]: { n: '1' } }, { offset, total: 1_000, ...change }));
  };

  beforeEach(() => {
    world.socket.welcome();
  });

  it('that are equal are one subscription, and others are one each', () => {
    hub.open(VIEW, HEAD);
    hub.open(VIEW, { ...HEAD });
    hub.open(VIEW, TAIL);
    expect(opens()).toEqual([[1, 0], [2, 900]]);
    expect(hub.subscriptions).toBe(2);
  });

  it('part when one of them moves, which keeps its rows until the new ones are there', () => {
    const [stays, goes] = [hub.open(VIEW, HEAD), hub.open(VIEW, HEAD)];
    const seen = vi.fn();
    goes.watch(({ snapshot, fresh }) => { seen(snapshot?.offset, fresh); });
    windowAnswer(1, 0);
    goes.move(TAIL);
    expect(opens()).toEqual([[1, 0], [2, 900]]);
    expect(world.socket.heard('move')).toEqual([]);
    windowAnswer(2, 900);
    expect(seen.mock.calls).toEqual([[0, true], [0, false], [900, true]]);
    expect([stays.value.snapshot?.offset, stays.value.viewport]).toEqual([0, HEAD]);
  });

  it('meet again as one, and the other is closed', () => {
    const [stays, goes] = [hub.open(VIEW, HEAD), hub.open(VIEW, TAIL)];
    windowAnswer(1, 0);
    windowAnswer(2, 900);
    goes.move(HEAD);
    expect(world.socket.heard('close')).toEqual([{ type: 'close', sub: 2 }]);
    expect(hub.subscriptions).toBe(1);
    expect(goes.value).toEqual(stays.value);
  });

  it('move in place where nobody else chose them, and whoever chose none goes along', () => {
    const follower = hub.open(VIEW);
    const chooser = hub.open(VIEW, TAIL);
    expect([opens(), hub.subscriptions]).toEqual([[[1, 0]], 1]);
    windowAnswer(1, 0);
    windowAnswer(1, 900, { request: 2, revision: 2 });
    expect(follower.value.snapshot?.offset).toBe(900);
    chooser.move(HEAD);
    expect(world.socket.heard('move').map(({ offset }) => offset)).toEqual([900, 0]);
    void chooser.close();
    expect(hub.subscriptions).toBe(1);
  });

  it('are chosen by a follower that moves, even to where it stands', () => {
    const [chooser, follower] = [hub.open(VIEW, HEAD), hub.open(VIEW)];
    windowAnswer(1, 0);
    follower.move(HEAD);
    chooser.move(TAIL);
    expect([follower.value.viewport, chooser.value.viewport]).toEqual([HEAD, TAIL]);
    void follower.close();
    void chooser.close();
    expect(hub.subscriptions).toBe(0);
  });
});

describe('closing a table', () => {
  beforeEach(() => {
    world.socket.welcome();
  });

  it('waits for the word of the server', async () => {
    const settled = vi.fn();
    const closing = hub.open(VIEW).close().then(settled);
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    expect(settled).not.toHaveBeenCalled();
    world.socket.say({ type: 'closed', sub: 1 });
    await closing;
  });

  it('is done when the connection is lost', async () => {
    const closing = hub.open(VIEW).close();
    world.socket.drop();
    await closing;
  });

  it('is done when the server refused the table meanwhile', async () => {
    const closing = hub.open(VIEW).close();
    world.socket.say(errorMessage('unknown_table', 1));
    await closing;
  });

  it('is done at once where it was never opened on the wire', async () => {
    world.socket.drop();
    await hub.open(VIEW).close();
  });

  it('twice by one holder is once', async () => {
    const [first, second] = [hub.open(VIEW), hub.open(VIEW)];
    await Promise.all([first.close(), first.close()]);
    expect(hub.subscriptions).toBe(1);
    expect(second.value.viewport.size).toBe(300);
  });

  it('silences its watchers, and not those of another holder', () => {
    const [mine, theirs] = [hub.open(VIEW), hub.open(VIEW)];
    const [myWatcher, theirWatcher] = [vi.fn(), vi.fn()];
    mine.watch(myWatcher);
    theirs.watch(theirWatcher);
    void mine.close();
    answer(1);
    expect(myWatcher).not.toHaveBeenCalled();
    expect(theirWatcher).toHaveBeenCalled();
  });

  it('and opening it again is a new subscription that hears nothing of the old one', () => {
    void hub.open(VIEW).close();
    const again = hub.open(VIEW);
    world.socket.say(opened(1, COLUMNS));
    world.socket.say(frame(1, { old: { n: '0' } }));
    expect(again.value.snapshot).toBeNull();
    answer(2);
    expect(again.value.snapshot?.rows[0]?.id).toBe('a');
  });

  it('makes every further step an error that says so', () => {
    const table = hub.open(VIEW);
    void table.close();
    expect(() => { table.refresh(); }).toThrow("'users_ui' was closed and cannot be refreshed.");
    expect(() => { table.move({ offset: 0, size: 1 }); }).toThrow('cannot be moved');
    expect(() => table.watch(() => undefined)).toThrow('cannot be watched');
  });
});

describe('reconnecting', () => {
  it('opens every view again at its window, and shows the old rows meanwhile', () => {
    world.socket.welcome();
    const table = hub.open(VIEW);
    answer(1);
    table.move({ offset: 600, size: 300 });
    world.socket.say(frame(1, { x: { n: '7' } }, { request: 2, revision: 2, total: 900, offset: 600 }));
    world.socket.drop();
    expect(table.value).toMatchObject({ fresh: false, snapshot: { offset: 600 } });
    world.advance(150);
    world.socket.welcome();
    expect(world.socket.heard('open')).toEqual([
      { type: 'open', sub: 2, request: 1, table: 'users_ui', offset: 600, size: 300, ahead: 2 },
    ]);
    expect(table.value.snapshot?.rows[0]?.cells).toEqual([7]);
    answer(2);
    expect(table.value).toMatchObject({ fresh: true, snapshot: { rows: [{ id: 'a' }] } });
  });

  it('does not open what was closed meanwhile', async () => {
    world.socket.welcome();
    const table = hub.open(VIEW);
    world.socket.drop();
    await table.close();
    world.advance(150);
    world.socket.welcome();
    expect(world.socket.heard('open')).toEqual([]);
  });

  it('is the cure for a frame that does not fit', () => {
    world.socket.welcome();
    const table = hub.open(VIEW);
    answer(1);
    world.socket.say(frame(1, {}, { ids: ['ghost'], revision: 2 }));
    expect(hub.connection.value).toMatchObject({ phase: 'reconnecting', problem: { code: 'bad_frame' } });
    world.advance(150);
    world.socket.welcome();
    answer(2);
    expect(table.value.fresh).toBe(true);
  });

  it('tries a refused table again', () => {
    world.socket.welcome();
    const table = hub.open(VIEW);
    world.socket.say(errorMessage('unknown_table', 1));
    world.socket.drop();
    table.refresh();
    world.advance(150);
    world.socket.welcome();
    expect(world.socket.last('open').sub).toBe(2);
  });
});

describe('nothing is left behind', () => {
  it('by 10,000 tables that are opened and closed', async () => {
    world.socket.welcome();
    const closings: Promise<void>[] = [];
    const [timers, listeners] = [world.timers.size, world.socket.listeners.size];
    for (let round = 1; round <= 10_000; round += 1) {
      const table = hub.open({ table: `t${String(round % 7)}` });
      table.watch(() => undefined);
      if (round % 3 > 0) answer(round);
      closings.push(table.close());
      world.socket.say({ type: 'closed', sub: round });
    }
    await Promise.all(closings);
    expect(world.socket.heard('open').length).toBe(10_000);
    expect(world.socket.heard('close').length).toBe(10_000);
    expect(hub.subscriptions).toBe(0);
    expect([world.timers.size, world.socket.listeners.size, world.wakers.size]).toEqual([timers, listeners, 1]);
  });

  it('by 10,000 moves of windows that part and meet', () => {
    world.socket.welcome();
    const [one, two] = [hub.open(VIEW, { offset: 0, size: 10 }), hub.open(VIEW, { offset: 0, size: 10 })];
    for (let round = 0; round < 10_000; round += 1) {
      two.move({ offset: (round % 3) * 10, size: 10 });
      for (const { sub } of world.socket.heard('close').slice(-1)) world.socket.say({ type: 'closed', sub });
    }
    void one.close();
    void two.close();
    expect(hub.subscriptions).toBe(0);
    expect(world.socket.heard('open').length).toBe(world.socket.heard('close').length);
  });

  it('by 1,000 hubs', async () => {
    await Promise.all([hub.close(), Promise.resolve().then(() => { world.advance(0); })]);
    for (let round = 0; round < 1_000; round += 1) {
      const each = new TableHub({ url: 'localhost', key: 'k' }, world.environment);
      each.open(VIEW);
      if (round % 2 > 0) world.socket.welcome();
      const closing = each.close();
      world.advance(0);
      await closing;
    }
    expect([world.timers.size, world.wakers.size]).toEqual([0, 0]);
    expect(world.sockets.every((socket) => socket.closed && socket.listeners.size === 0)).toBe(true);
  });

  it('and a closed hub opens nothing', () => {
    void hub.close();
    expect(() => hub.open(VIEW)).toThrow("'users_ui' cannot be opened: the hub was closed.");
  });
});
