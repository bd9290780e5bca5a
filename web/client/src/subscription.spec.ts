import { beforeEach, describe, expect, it, vi } from 'vitest';
import { errorMessage, FakeWorld, frame, opened } from '../testing/index.ts';
import { TableHub } from './hub.ts';
import type { LiveTable } from './live-table.ts';

let world: FakeWorld;
let hub: TableHub;
let table: LiveTable;

const page = (offset: number) => ({ offset, size: 300 });
const moves = () => world.socket.heard('move').map(({ request, offset }) => [request, offset]);

/** The server's answer to a request: one row, whose id says where it stands. */
function answer(request: number, revision: number, offset: number, sub = 1): void {
  const rows = { [`row ${String(offset)}`]: { n: String(offset) } };
  world.socket.say(frame(sub, rows, { request, revision, offset, total: 10_000 }));
}

beforeEach(() => {
  world = new FakeWorld();
  hub = new TableHub({ url: 'localhost:10000', key: 'sesame' }, world.environment);
  world.socket.welcome();
  table = hub.open({ table: 'users_ui' });
  world.socket.say(opened(1, [{ name: 'n', type: 'int64' }]));
});

describe('moving', () => {
  it('never has two requests on their way, and asks next for the newest window only', () => {
    answer(1, 1, 0);
    for (const offset of [300, 600, 900, 1200]) table.move(page(offset));
    expect(moves()).toEqual([[2, 300]]);
    answer(2, 2, 300);
    expect(moves()).toEqual([
      [2, 300],
      [3, 1200],
    ]);
    expect(table.value.fresh).toBe(false);
    answer(3, 3, 1200);
    expect(table.value).toMatchObject({ fresh: true, snapshot: { offset: 1200 } });
  });

  it('waits for the first rows too', () => {
    table.move(page(300));
    expect(moves()).toEqual([]);
    answer(1, 1, 0);
    expect(moves()).toEqual([[2, 300]]);
  });

  it('to where it stands asks nothing', () => {
    answer(1, 1, 0);
    table.move(page(0));
    expect(moves()).toEqual([]);
  });

  it('away and back ends where it began', () => {
    answer(1, 1, 0);
    table.move(page(300));
    table.move(page(0));
    answer(2, 2, 300);
    answer(3, 3, 0);
    expect(moves()).toEqual([
      [2, 300],
      [3, 0],
    ]);
    expect(table.value).toMatchObject({ fresh: true, viewport: page(0), snapshot: { offset: 0 } });
  });

  it('drops the late rows of the window that it left', () => {
    answer(1, 1, 0);
    table.move(page(300));
    answer(1, 2, 0);
    expect(table.value.snapshot?.revision).toBe(1);
    answer(2, 3, 300);
    expect(table.value.snapshot).toMatchObject({ revision: 3, offset: 300 });
  });

  it('past the end shows where the server moved it', () => {
    answer(1, 1, 0);
    table.move(page(20_000));
    answer(2, 2, 9_700);
    expect(table.value).toMatchObject({ fresh: true, snapshot: { offset: 9_700 } });
  });
});

describe('finding a row', () => {
  const asked = () => world.socket.heard('find').map(({ sub, row }) => [sub, row]);
  const found = (row: string, index: number | null, sub = 1) => { world.socket.say({ type: 'found', sub, row, index }); };

  it('tells where it stands, or that it is not there', async () => {
    answer(1, 1, 0);
    const [far, gone] = [table.find('far'), table.find('gone')];
    expect(asked()).toEqual([[1, 'far']]);
    found('far', 500_123);
    found('gone', null);
    expect([await far, await gone]).toEqual([500_123, null]);
    expect(asked()).toEqual([[1, 'far'], [1, 'gone']]);
  });

  it('goes on after the connection was lost', async () => {
    answer(1, 1, 0);
    const far = table.find('far');
    world.socket.drop();
    world.advance(150);
    world.socket.welcome();
    expect(asked()).toEqual([[2, 'far']]);
    found('other', 1, 2);
    found('far', 7, 2);
    expect(await far).toBe(7);
  });

  it('ends with the view, or when that is refused', async () => {
    const early = table.find('early');
    world.socket.say(errorMessage('unknown_table', 1));
    expect(await early).toBeNull();
    table.refresh();
    const late = table.find('late');
    void table.close();
    expect(await late).toBeNull();
  });

  it('goes on when only a window was refused', async () => {
    answer(1, 1, 0);
    const far = table.find('far');
    table.move(page(600));
    world.socket.say(errorMessage('bad_window', 1));
    found('far', 7);
    expect(await far).toBe(7);
  });

  it('while the view is refused waits until it is asked for again', async () => {
    world.socket.say(errorMessage('unknown_table', 1));
    const later = table.find('later');
    expect(asked()).toEqual([]);
    table.refresh();
    expect(asked()).toEqual([[2, 'later']]);
    found('later', 3, 2);
    expect(await later).toBe(3);
  });

  it('ends with the hub, and at once after it', async () => {
    const early = table.find('early');
    void hub.close();
    expect([await early, await table.find('late')]).toEqual([null, null]);
  });
});

describe('refreshing', () => {
  it('asks for the same window again', () => {
    answer(1, 1, 0);
    table.refresh();
    expect(moves()).toEqual([[2, 0]]);
  });

  it('joins the request that is on its way', () => {
    answer(1, 1, 0);
    table.move(page(300));
    table.refresh();
    table.refresh();
    answer(2, 2, 300);
    expect(moves()).toEqual([[2, 300]]);
  });

  it('opens a refused table again, under a new number', () => {
    world.socket.say(errorMessage('unknown_table', 1));
    table.refresh();
    expect(world.socket.heard('open').map(({ sub, request }) => [sub, request])).toEqual([
      [1, 1],
      [2, 1],
    ]);
    answer(1, 1, 0, 2);
    expect(table.value).toMatchObject({ fresh: true, problem: null });
  });
});

describe('a refusal', () => {
  it('of the table is told once, however often the server says it', () => {
    const problems = vi.fn();
    table.watch(({ problem }) => { problems(problem?.message); });
    for (let round = 0; round < 5; round += 1) {
      world.socket.say(errorMessage('unknown_table', round + 1));
      table.refresh();
    }
    expect(problems.mock.calls).toEqual([['The server says unknown_table.']]);
  });

  it('that passes is asked about again, later each time, until there is room', () => {
    const opens = () => world.socket.heard('open').length;
    for (const [refused, wait] of [600, 900, 1_350].entries()) {
      world.socket.say(errorMessage('too_many_views', refused + 1));
      world.advance(wait - 1);
      expect(opens()).toBe(refused + 1);
      world.advance(1);
      expect(opens()).toBe(refused + 2);
      expect(table.value.problem?.code).toBe('too_many_views');
      world.socket.say({ type: 'pong', id: 1 });
    }
    answer(1, 1, 0, 4);
    expect(table.value).toMatchObject({ fresh: true, problem: null });
  });

  it('that passes is waited out as long as the server says, and by nobody who has left', () => {
    world.socket.say(errorMessage('too_many_views', 1, 2));
    world.advance(1_999);
    expect(world.socket.heard('open').length).toBe(1);
    const timers = world.timers.size;
    void table.close();
    expect(world.timers.size).toBe(timers - 1);
  });

  it('of a table that a swap brings ends with the swap', () => {
    const other = hub.open({ table: 'final_ui' });
    answer(1, 1, 0, 2);
    world.socket.say(errorMessage('unknown_table', 1));
    answer(1, 2, 0, 2);
    expect(world.socket.heard('open').length).toBe(2);
    world.socket.say(frame(2, {}, { generation: 2, revision: 3 }));
    expect(world.socket.last('open')).toMatchObject({ sub: 3, table: 'users_ui' });
    world.socket.say(frame(3, {}, { generation: 2 }));
    expect([table.value, other.value]).toMatchObject([{ fresh: true, problem: null }, { fresh: true }]);
  });

  it('of a window goes back to the last one, and stays told', () => {
    answer(1, 1, 300);
    table.move(page(600));
    world.socket.say(errorMessage('bad_window', 1));
    expect(moves()).toEqual([
      [2, 600],
      [3, 0],
    ]);
    answer(3, 2, 0);
    expect(table.value).toMatchObject({ fresh: true, viewport: page(0), problem: { code: 'bad_window' } });
    table.move(page(300));
    answer(4, 3, 300);
    expect(table.value).toMatchObject({ fresh: true, problem: null });
  });

  it('of a window that is wanted no more asks for the newest', () => {
    answer(1, 1, 0);
    table.move(page(600));
    table.move(page(900));
    world.socket.say(errorMessage('bad_window', 1));
    expect(moves()).toEqual([
      [2, 600],
      [3, 900],
    ]);
  });

  it('of the way back too asks no more', () => {
    answer(1, 1, 0);
    table.refresh();
    world.socket.say(errorMessage('too_busy', 1));
    expect(moves()).toEqual([[2, 0]]);
    expect(table.value).toMatchObject({ fresh: false, problem: { code: 'too_busy' } });
  });

  it('of the first window lets a smaller one be opened', () => {
    table.move({ offset: 0, size: 10 });
    world.socket.say(errorMessage('bad_window', 1));
    expect(world.socket.last('open')).toMatchObject({ sub: 2, size: 10 });
  });

  it('out of the blue is told, and forgiven with the next generation', () => {
    answer(1, 1, 0);
    world.socket.say(errorMessage('table_gone', 1));
    expect(table.value).toMatchObject({ fresh: false, problem: { code: 'table_gone' }, snapshot: { generation: 1 } });
    world.socket.say(frame(1, {}, { generation: 2, revision: 2 }));
    expect(table.value).toMatchObject({ fresh: true, problem: null });
  });
});

describe('frames', () => {
  const took = () => world.socket.heard('took').map(({ sub, revision }) => [sub, revision]);

  it('are sent no further ahead than they are taken, the late ones too', () => {
    expect(world.socket.heard('open')).toMatchObject([{ ahead: 2 }]);
    answer(1, 1, 0);
    table.move(page(300));
    answer(1, 2, 0);
    world.advance(25);
    expect(took()).toEqual([
      [1, 1],
      [1, 2],
    ]);
  });

  it('are not taken any more when nobody looks', async () => {
    answer(1, 1, 0);
    answer(1, 2, 0);
    const closed = table.close();
    world.socket.say({ type: 'closed', sub: 1 });
    await closed;
    world.advance(25);
    expect(took()).toEqual([[1, 1]]);
  });
});
