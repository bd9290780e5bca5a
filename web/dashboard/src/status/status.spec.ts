import { feed, welcome } from '@tablecast/client/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, leave, Visit } from '../testing/visit.ts';

const METRICS = (updates: number) => `tablecast_rows{table="users_ui"} 1234
tablecast_table_updates{table="users_ui"} ${String(updates)}
tablecast_table_age_seconds{table="users_ui"} 0.25
tablecast_generation 3
`;

let visit: Visit;

beforeEach(() => {
  visit = new Visit();
});

afterEach(leave);

describe('the status bar', () => {
  it('tells rows, rate, generation and the last swap', async () => {
    let updates = 0;
    visit.paths['/metrics'] = () => answer(METRICS((updates += 20)));
    await visit.enter();
    await visit.orchestrator({ lastApplied: new Date(0).toISOString() });
    await visit.advance(2000);
    expect([visit.text('row-count'), visit.text('rate'), visit.text('generation')]).toEqual(['1,234 rows', '10/s', 'generation 3']);
    expect([visit.text('last-change'), visit.find('last-swap') === null]).toEqual(['just now', false]);
  });

  it('lets the data grow old while the connection is lost', async () => {
    await visit.enter();
    await visit.advance(1000);
    visit.world.socket.drop();
    await visit.settle();
    for (let second = 0; second < 5; second += 1) await visit.advance(1000);
    expect([visit.text('state'), visit.text('data-age')]).toEqual(['reconnecting', '6 s']);
  });

  it('lets the data grow old too while the connection is there and nothing comes of it', async () => {
    await visit.enter();
    expect(visit.text('data-age')).toBe('0 s');
    for (let second = 0; second < 4; second += 1) await visit.advance(1000);
    expect([visit.text('state'), visit.text('data-age')]).toEqual(['live', '4 s']);
    visit.world.socket.say({ type: 'pong', id: 1 });
    await visit.advance(1000);
    expect(visit.text('data-age')).toBe('1 s');
  });

  it('says nothing of what an orchestrator of another version does not tell', async () => {
    await visit.enter();
    await visit.rows('orchestrator_status', ['generation'], { orchestrator: { generation: '3' } });
    expect([visit.text('generation'), visit.find('last-swap'), visit.find('building')]).toEqual(['generation 3', null, null]);
  });

  it('tells that a generation is being built', async () => {
    await visit.enter();
    await visit.orchestrator({ building: '4', state: 'hydrating' });
    expect(visit.text('building')).toBe('4');
  });
});

describe('what is wrong', () => {
  it('with the rows is said once, and as of when they are', async () => {
    await visit.enter();
    visit.world.socket.say(feed('stale', 'The broker is away.'));
    await visit.settle();
    expect([visit.text('state'), visit.text('reason'), visit.all('trouble').length]).toEqual(['stale', expect.stringContaining('The broker is away.'), 1]);
    expect(visit.text('trouble')).toContain('Rows as of');
    visit.world.socket.say(feed('live'));
    await visit.settle();
    expect(visit.find('trouble')).toBeNull();
  });

  it('with the connection is said, the panels stay, and the tables are read again afterwards', async () => {
    await visit.enter();
    const asked = () => visit.ask.mock.calls.filter(([url]) => url.endsWith('/api/tables')).length;
    visit.world.socket.drop();
    await visit.settle();
    expect([visit.text('state'), visit.shown().length > 0, visit.find('table-account') === null]).toEqual(['reconnecting', true, false]);
    expect(visit.text('trouble')).not.toBe('');
    await visit.advance(150);
    await visit.welcomed();
    expect([visit.text('state'), asked(), visit.find('trouble')]).toEqual(['live', 2, null]);
  });

  it('with a generation is a note that can be put away', async () => {
    await visit.enter();
    await visit.orchestrator({ lastError: 'generation 4: it was not ready within 60 s' });
    expect(visit.text('failure')).toContain('generation 4: it was not ready within 60 s. Everybody still sees generation 3.');
    visit.find('failure')?.querySelectorAll('button')[1]?.click();
    await visit.settle();
    expect(visit.find('failure')).toBeNull();
    await visit.orchestrator({ lastError: 'generation 5: no' });
    expect(visit.text('failure')).toContain('generation 5: no');
    await visit.press('KeyO');
    expect([visit.find('failure'), visit.shown()]).toEqual([null, ['~operator', 'final_ui']]);
  });

  it('with the list of tables is tried again by itself, and said once', async () => {
    const good = visit.paths['/api/tables'] ?? (() => answer({}));
    const asked = () => visit.ask.mock.calls.filter(([url]) => url.endsWith('/api/tables')).length;
    visit.paths['/api/tables'] = () => answer({ error: { code: 'not_ready', message: 'Not yet.', hint: 'Wait.' } }, 503);
    await visit.enter();
    const shown = visit.find('problem');
    await visit.advance(3000);
    expect([asked(), visit.find('problem') === shown, shown === null]).toEqual([2, true, false]);
    visit.paths['/api/tables'] = good;
    await visit.advance(3000);
    await visit.advance(3000);
    expect([asked(), visit.find('problem'), visit.find('table-account') === null]).toEqual([3, null, false]);
  });

  it('with the list of tables can be tried again', async () => {
    const asked = visit.paths['/api/tables'];
    visit.paths['/api/tables'] = () => answer({ error: { code: 'not_ready', message: 'Not yet.', hint: 'Wait.' } }, 503);
    await visit.enter();
    expect(visit.text('problem')).toContain('Not yet. Wait.');
    visit.paths['/api/tables'] = asked ?? (() => answer({}));
    visit.find('problem')?.querySelector('button')?.click();
    await visit.settle();
    expect([visit.find('problem'), visit.find('table-account') === null]).toEqual([null, false]);
  });
});

it('a new generation brings its new tables into the list', async () => {
  await visit.enter();
  await visit.orchestrator();
  const table = (name: string) => ({ name, columns: [], rows: 0, generation: 4 });
  visit.paths['/api/tables'] = () => answer({ tables: [table('users_ui'), table('orders')], aliases: {} });
  await visit.rows('orchestrator_status', ['generation'], { orchestrator: { generation: '4' } }, 4);
  expect([visit.find('table-orders') === null, visit.find('table-account')]).toEqual([false, null]);
});

it('another server starts with nothing of the last one', async () => {
  visit.paths['/metrics'] = () => answer(METRICS(1));
  await visit.enter();
  await visit.advance(2000);
  expect([visit.find('table-account') === null, visit.text('row-count')]).toEqual([false, '1,234 rows']);
  await visit.click('leave');
  visit.paths['/api/tables'] = () => answer({}, 503);
  visit.paths['/metrics'] = () => answer({}, 503);
  await visit.submit('sesame');
  await visit.welcomed();
  expect([visit.text('state'), visit.find('table-account'), visit.find('panel'), visit.find('row-count')]).toEqual(['live', null, null, null]);
});

it('a server that came back and reads its tables again says so above the old rows', async () => {
  await visit.enter();
  visit.world.socket.drop();
  await visit.advance(150);
  const progress = { done: 300, of: 1200, per_second: 100 };
  visit.paths['/api/status'] = () => answer({ generations: [{ generation: 4, state: 'hydrating', changed: '', progress, error: null }] });
  visit.world.socket.accept();
  visit.world.socket.say(welcome());
  visit.world.socket.say(feed('filling', 'Generation 4 is being read.'));
  await visit.settle();
  expect([visit.text('state'), visit.shown(), visit.find('filling')]).toEqual(['filling', ['users_ui', 'final_ui'], null]);
  expect(visit.text('trouble')).toMatch(/^Rows as of .*Generation 4 is being read\. .*300 of 1,200 records/);
  visit.world.socket.say(feed('live'));
  await visit.settle();
  expect(visit.find('trouble')).toBeNull();
});

it('a server that is still filling shows how far it is, and its tables once they are there', async () => {
  const progress = { done: 300, of: 1200, per_second: 100 };
  visit.paths['/api/status'] = () => answer({ generations: [{ generation: 1, state: 'hydrating', changed: '', progress, error: null }] });
  await visit.mount();
  await visit.submit('sesame');
  visit.world.socket.accept();
  visit.world.socket.say(welcome());
  visit.world.socket.say(feed('filling', 'No generation is live yet.'));
  await visit.settle();
  expect([visit.text('state'), visit.text('reason'), visit.all('problem').length]).toEqual(['filling', expect.stringContaining('No generation is live yet.'), 0]);
  expect(visit.text('build')).toMatch(/^Generation 1 is being filled ?300 of 1,200 records, 100 a second$/);
  expect((visit.find('progress') as HTMLProgressElement).value).toBe(300);
  visit.world.socket.say(feed('live'));
  await visit.settle();
  expect([visit.find('filling'), visit.find('table-account') === null]).toEqual([null, false]);
});

it('a first generation that failed is not called filling, until the next one is being made', async () => {
  const generation = (number: number, state: string, error: string | null = null) => ({ generation: number, state, changed: '', progress: null, error });
  visit.paths['/api/status'] = () => answer({ generations: [generation(1, 'failed', 'there is no topic users'), generation(2, 'retired')] });
  await visit.mount();
  await visit.submit('sesame');
  visit.world.socket.accept();
  visit.world.socket.say(welcome());
  visit.world.socket.say(feed('filling', 'No generation is live yet.'));
  await visit.settle();
  expect([visit.text('state'), visit.text('reason')]).toEqual(['failed', expect.stringContaining('Generation 1 failed: there is no topic users.')]);
  visit.paths['/api/status'] = () => answer({ generations: [generation(1, 'failed', 'there is no topic users'), generation(3, 'building')] });
  await visit.advance(700);
  expect([visit.text('state'), visit.text('build')]).toEqual(['filling', 'Generation 3 is being prepared']);
});
