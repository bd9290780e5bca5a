import { afterEach, beforeEach, expect, it } from 'vitest';
import { answer, leave, Visit } from '../testing/visit.ts';

let visit: Visit;
let sent: unknown[];

const choose = async (id: string, value: string): Promise<void> => {
  const field = visit.field(id);
  field.value = value;
  field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input'));
  await visit.settle();
};

const disabled = (id: string): boolean => (visit.find(id) as HTMLButtonElement).disabled;

beforeEach(async () => {
  visit = new Visit();
  sent = [];
  history.replaceState(null, '', '/#key=sesame&panel=operator');
  visit.paths['/api/control'] = () => {
    sent.push(JSON.parse(visit.ask.mock.lastCall?.[1].body as string));
    return answer({ id: `m${String(sent.length)}` }, 202);
  };
  await visit.mount();
  await visit.welcomed();
  await visit.orchestrator();
});

afterEach(leave);

it('offers the topics that Kafka has, with what is live chosen', () => {
  const options = [...visit.field('topic-users').querySelectorAll('option')].map(({ value }) => value);
  expect([options, visit.field('topic-users').value, visit.field('join-left').checked]).toEqual([['users', 'users_v2', 'accounts'], 'users', true]);
});

it('stands beside another one, each with fields of its own', async () => {
  await visit.click('show-all');
  await visit.press('KeyO');
  await visit.press('KeyR');
  const ids = [...document.querySelectorAll('form [id]')].map(({ id }) => id);
  expect([visit.all('control-form').length, new Set(ids).size, visit.all('join-left').length]).toEqual([2, ids.length, 2]);
  expect(visit.all('join-left').every((field) => (field as HTMLInputElement).checked)).toBe(true);
});

it('sends nothing as long as nothing would change', async () => {
  expect([disabled('apply'), disabled('dry-run')]).toEqual([true, true]);
  await choose('topic-users', 'users_v2');
  expect([disabled('apply'), disabled('dry-run')]).toEqual([false, false]);
  await choose('topic-users', 'users');
  expect([disabled('apply'), sent]).toEqual([true, []]);
});

it('asks first, then applies, not too fast, and tells what became of it', async () => {
  await choose('topic-users', 'users_v2');
  visit.field('join-inner').click();
  await visit.settle();
  await visit.click('dry-run');
  const wish = { topics: { users: 'users_v2', accounts: 'accounts' }, joinType: 'inner' };
  expect(sent).toEqual([{ ...wish, dryRun: true }]);
  expect([visit.text('verdict'), disabled('apply')]).toEqual(['pending The dry run is being looked at.', true]);
  await visit.verdict('m1', 'would_apply', { reason: 'a generation would be filled from 7 of users', text: '{"dryRun":true}' });
  expect(visit.text('verdict')).toBe('would apply a generation would be filled from 7 of users.');
  await visit.advance(2000);
  await visit.click('apply');
  expect(sent.slice(1)).toEqual([wish]);
  await visit.verdict('m2', 'applied', { generation: '4' });
  expect(visit.text('verdict')).toBe('applied as generation 4.');
  expect(visit.text('history')).toContain('users_v2');
});

it('shows how far the next generation is', async () => {
  const progress = { done: 25, of: 100, per_second: 10 };
  visit.paths['/api/status'] = () => answer({ generations: [{ generation: 4, state: 'hydrating', changed: '', progress, error: null }] });
  await visit.orchestrator({ building: '4', state: 'hydrating' });
  expect(visit.text('build')).toMatch(/^Generation 4 is being filled ?25 of 100 records, 10 a second$/);
  await visit.orchestrator({ generation: '4', building: null });
  expect(visit.find('build')).toBeNull();
});

it('says once why a message was not taken', async () => {
  visit.paths['/api/control'] = () => answer({ error: { code: 'too_many_controls', message: 'Control messages come too fast.', hint: 'The next in 1 s.' } }, 429);
  await choose('topic-users', 'users_v2');
  await visit.click('apply');
  expect([visit.text('control-problem'), visit.find('verdict')]).toEqual(['Control messages come too fast. The next in 1 s.', null]);
});

it('knows without a message that nothing would change', async () => {
  visit.paths['/api/control'] = () => answer({ verdict: 'no_change' });
  await choose('topic-users', 'users_v2');
  await visit.click('dry-run');
  expect(visit.text('verdict')).toBe('no change this is shown already.');
});

it('lets topics be typed where Kafka does not answer', async () => {
  visit.paths['/api/topics'] = () => answer({ error: { code: 'broker_unreachable', message: 'It does not answer.', hint: 'Check it.' } }, 503);
  await visit.click('read-topics');
  expect([visit.text('topics-problem'), visit.find('topic-users')?.tagName]).toEqual([expect.stringContaining('It does not answer.'), 'INPUT']);
  await choose('topic-users', ' users_v3 ');
  await visit.click('apply');
  expect(sent).toMatchObject([{ topics: { users: 'users_v3' } }]);
});

it('offers a viewer no form that the server would refuse, and says why', async () => {
  visit.world.socket.drop();
  await visit.advance(150);
  visit.world.socket.welcome('viewer');
  await visit.settle();
  await visit.orchestrator();
  expect([visit.find('control-form'), visit.find('apply'), visit.find('dry-run')]).toEqual([null, null, null]);
  expect(visit.text('not-operator')).toContain('You are logged in as a viewer');
  expect(visit.find('no-history')).not.toBeNull();
  visit.world.socket.drop();
  await visit.advance(300);
  await visit.welcomed();
  await visit.orchestrator();
  expect([visit.find('apply') === null, visit.find('not-operator')]).toEqual([false, null]);
});

it('follows the control messages only while it is there', async () => {
  expect(visit.open()).toContain('control_raw');
  await visit.click('table-account');
  expect(visit.open().sort()).toEqual(['account', 'orchestrator_status']);
});
