import { errorMessage, feed, frame, opened, welcome } from '@tablecast/client/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { PLAIN_VIEW } from './index.ts';
import {
  answer, button, cell, COLUMNS, find, fixture, host, hub, mountGrid, numbered, page, press, say, settled, text, texts, thousand, world,
} from './mounted-grid.ts';

mountGrid();

describe('showing rows', () => {
  it('waits, then shows columns, rows and the range', async () => {
    expect(text('[data-testid=range]')).toBe('waiting for rows');
    expect(find('[data-testid=grid]')?.getAttribute('aria-busy')).toBe('true');
    await answer();
    expect(texts('th')).toEqual(['name', 'age']);
    expect([...page().querySelectorAll('tbody tr')].map((row) => row.getAttribute('data-row-id'))).toEqual(['a', 'b']);
    expect(text('[data-testid=range]')).toBe('rows 1-2 of 2');
    expect(find('[data-testid=grid]')?.getAttribute('aria-busy')).toBe('false');
    expect(find('[data-testid=picture]')).toBeNull();
  });

  it('shows a large number whole and on the right, and a null as a dash with words for a screen reader', async () => {
    await answer();
    expect(cell('a', 2)?.textContent).toBe('9,007,199,254,740,993');
    expect(cell('a', 2)?.className).toContain('live-table-number');
    expect([cell('b', 2)?.textContent, cell('b', 2)?.getAttribute('aria-label')]).toEqual(['–', 'no value']);
  });

  it('shows markup as the text that it is, in a cell and in a head', async () => {
    const markup = '<img src=x onerror="alert(1)">{{1+1}}';
    await answer();
    await say(opened(1, [{ name: markup, type: 'string' }], 2), frame(1, { [markup]: { [markup]: markup } }, { generation: 2, revision: 2 }));
    expect([texts('th'), texts('td')]).toEqual([[markup], [markup]]);
    expect(page().querySelector('img')).toBeNull();
  });

  it('tells a screen reader what stands where', async () => {
    await answer();
    const grid = find('[role=grid]');
    expect([grid?.getAttribute('aria-rowcount'), grid?.getAttribute('aria-colcount')]).toEqual(['3', '2']);
    expect(find('[data-row-id=b]')?.getAttribute('aria-rowindex')).toBe('3');
    expect(cell('b', 2)?.getAttribute('aria-colindex')).toBe('2');
  });

  it('takes the new columns of a swap', async () => {
    await answer();
    await say(opened(1, [{ name: 'city', type: 'string' }], 2), frame(1, { z: { city: 'Bern' } }, { generation: 2, revision: 2 }));
    expect([texts('th'), texts('td')]).toEqual([['city'], ['Bern']]);
  });

  it('takes them also where the viewer once hid them all', async () => {
    localStorage.setItem('tablecast.columns.users_ui', JSON.stringify({ hidden: ['city'] }));
    host().tables.set([]);
    await settled();
    host().tables.set(['users_ui']);
    await settled();
    await say(opened(2, [{ name: 'city', type: 'string' }], 2), frame(2, { z: { city: 'Bern' } }, { generation: 2, revision: 2 }));
    expect([texts('th'), texts('td')]).toEqual([['city'], ['Bern']]);
  });
});

it('stays at the end, also when rows come in between those in view', async () => {
  await thousand();
  await press('Last');
  const { offset, request } = world.socket.last('move');
  const ids = Object.keys(numbered(offset, 1_000));
  await say(frame(1, numbered(offset, 1_000), { total: 1_000, offset, request, revision: 2 }));
  expect(text('[data-testid=range]')).toBe('rows 979-1,000 of 1,000');
  const late = { late: { name: 'Late', age: '1' }, later: { name: 'Later', age: '1' } };
  const at = ids.indexOf('r980');
  await say(frame(1, late, { ids: [...ids.slice(0, at), 'late', ...ids.slice(at), 'later'], total: 1_002, offset, request, revision: 3 }));
  expect(text('[data-testid=range]')).toBe('rows 981-1,002 of 1,002');
});

describe('changes', () => {
  beforeEach(() => answer());
  const change = (name: string, revision: number, more = {}) =>
    say(frame(1, { a: { name, age: '9007199254740993' } }, { ids: ['a', 'b'], revision, total: 2, ...more }));

  it('flash in their cell, fade, and flash again at the next change', async () => {
    const look = () => cell('a', 1)?.className;
    await change('Anne', 2);
    expect(look()).toBe('live-table-flash');
    await vi.waitUntil(() => look() === 'live-table-fading');
    await change('Anna', 3);
    expect(look()).toBe('live-table-flash');
    await vi.waitUntil(() => look() === '', { timeout: 3_000 });
    expect(cell('a', 2)?.className).toBe('live-table-number');
  });

  it('keep the element of a row, wherever the row goes, and the order of the document', async () => {
    const row = find('[data-row-id=b]');
    await say(frame(1, {}, { ids: ['b', 'a'], revision: 2, total: 2 }));
    expect(find('tbody tr')).toBe(row);
  });

  it('of a whole generation come quietly, at once and without a blank row', async () => {
    const blanks: number[] = [];
    const watch = new MutationObserver(() => blanks.push(page().querySelectorAll('tbody tr:not([data-row-id])').length));
    watch.observe(page(), { subtree: true, childList: true, attributes: true, characterData: true });
    const rows = { a: { name: 'New', age: '1' }, b: { name: 'Newer', age: '2' } };
    await say(frame(1, rows, { generation: 2, revision: 2, total: 2 }));
    watch.disconnect();
    expect(texts('td')).toEqual(['New', '1', 'Newer', '2']);
    expect([Math.max(...blanks), page().querySelectorAll('[class*=flash]').length]).toEqual([0, 0]);
  });

  it('are held back while it is paused, and all there when it goes on', async () => {
    await press('Pause');
    await change('Anne', 2);
    expect(cell('a', 1)?.textContent).toBe('Ann');
    expect(text('[data-testid=paused]')).toMatch(/^paused at \d+:\d\d/);
    await press('Pause');
    expect([cell('a', 1)?.textContent, find('[data-testid=paused]')]).toEqual(['Anne', null]);
  });
});

describe('scrolling', () => {
  beforeEach(() => thousand());

  it('paints the rows in view and a few around them, and subscribes to little more', () => {
    expect(world.socket.last('open')).toMatchObject({ offset: 0, size: 130 });
    expect(page().querySelectorAll('tbody tr').length).toBeLessThan(40);
    expect(text('[data-testid=range]')).toBe('rows 1-22 of 1,000');
  });

  it('shows rows that are on their way as such, and asks for the newest window alone', async () => {
    const scroll = find('.live-table-scroll');
    for (const row of [400, 500, 600]) {
      if (scroll !== null) scroll.scrollTop = row * 28;
      scroll?.dispatchEvent(new Event('scroll'));
      await settled();
    }
    expect(page().querySelectorAll('tr.live-table-waiting').length).toBeGreaterThan(20);
    expect(texts('tr.live-table-waiting td').join('')).toBe('');
    expect(world.socket.heard('move').map(({ offset }) => offset)).toEqual([350]);
    await say(frame(1, numbered(350, 472), { request: 2, revision: 2, offset: 350, total: 1_000 }));
    expect(world.socket.heard('move').map(({ offset }) => offset)).toEqual([350, 550]);
    await say(frame(1, numbered(550, 672), { request: 3, revision: 3, offset: 550, total: 1_000 }));
    expect(page().querySelectorAll('tr.live-table-waiting').length).toBe(0);
    expect(text('[data-testid=range]')).toBe('rows 601-622 of 1,000');
  });

  it('turns pages, and goes to the ends and to a row', async () => {
    expect([button('First')?.disabled, button('Prev')?.disabled, button('Next')?.disabled]).toEqual([true, true, false]);
    await press('Next');
    expect(text('[data-testid=range]')).toBe('rows 22-43 of 1,000');
    expect(text('[data-testid=announcement]')).toBe('from row 22');
    await press('Prev');
    await press('Last');
    expect(text('[data-testid=range]')).toBe('rows 979-1,000 of 1,000');
    expect(button('Next')?.disabled).toBe(true);
    await press('First');
    const field = find('[data-testid=goto]') as HTMLInputElement;
    const goTo = async (row: string) => {
      field.value = row;
      field.form?.requestSubmit();
      await settled();
      return text('[data-testid=range]');
    };
    expect(await goTo('500')).toBe('rows 500-521 of 1,000');
    expect([await goTo(''), await goTo('soon')]).toEqual(['rows 500-521 of 1,000', 'rows 500-521 of 1,000']);
    expect(text('[data-testid=announcement]')).toBe('Write the number of a row, such as 1,000.');
    expect(await goTo('1,000')).toBe('rows 979-1,000 of 1,000');
  });

  it('stays with the rows that somebody reads when others come in above', async () => {
    await press('Next');
    const top = () => find('tbody tr:nth-child(7)')?.getAttribute('data-row-id');
    expect(top()).toBe('r21');
    const ids = ['new', ...Object.keys(numbered(0, 129))];
    await say(frame(1, { new: { name: 'New', age: '1' } }, { ids, revision: 2, total: 1_001 }));
    expect([top(), text('[data-testid=range]')]).toEqual(['r21', 'rows 23-44 of 1,001']);
  });

  it('stays at the end while rows come, where the newest are', async () => {
    await press('Last');
    await say(frame(1, numbered(878, 1_000), { request: 2, revision: 2, offset: 878, total: 1_000 }));
    await say(frame(1, numbered(881, 1_003), { request: 2, revision: 3, offset: 881, total: 1_003 }));
    expect(text('[data-testid=range]')).toBe('rows 982-1,003 of 1,003');
    expect(find('tbody tr:last-child')?.getAttribute('data-row-id')).toBe('r1002');
  });

  it('asks for the same window again on Refresh', async () => {
    await press('Refresh');
    expect(world.socket.last('move')).toMatchObject({ offset: 0, size: 130 });
  });
});

describe('problems', () => {
  it('of the table are a picture of their own, in the words of the server, once', async () => {
    await say(errorMessage('unknown_table', 1));
    expect(text('[data-testid=problem]')).toBe('No such tableThe server says unknown_table. Do the other thing.Try again');
    expect(page().querySelectorAll('[data-testid=problem]').length).toBe(1);
    expect(text('[data-testid=range]')).toBe('');
    expect(text('[data-testid=announcement]')).toBe('No such table. The server says unknown_table. Do the other thing.');
    await press('Try again');
    expect(world.socket.heard('open').length).toBe(2);
  });

  it('of the view stand beside the rows, with a way out', async () => {
    await answer();
    host().view.set({ ...PLAIN_VIEW, sort: [{ column: 'gone', descending: false }] });
    await settled();
    await say(errorMessage('bad_view', 2));
    expect(text('[data-testid=problem]')).toContain('The server says bad_view.');
    expect(texts('tbody tr').length).toBe(2);
    await press('Show the plain table');
    expect(host().view()).toEqual(PLAIN_VIEW);
  });

  it('of the connection leave the rows in place, marked as waiting', async () => {
    await answer();
    world.socket.drop();
    await settled();
    expect(texts('tbody tr').length).toBe(2);
    expect(find('[data-testid=grid]')?.getAttribute('aria-busy')).toBe('true');
    expect(find('[data-testid=problem]')).toBeNull();
  });

  it('of the server leave the rows in place, and nobody takes them for live', async () => {
    await answer();
    expect(find('[data-testid=grid]')?.dataset['phase']).toBe('live');
    await say(feed('stale', 'The pipeline is silent.'));
    expect(find('[data-testid=grid]')?.dataset['phase']).toBe('stale');
    expect(texts('tbody tr').length).toBe(2);
  });

  it('an empty table and a search without a match are told apart', async () => {
    await say(opened(1, COLUMNS), frame(1, {}, { total: 0 }));
    expect(text('[data-testid=picture]')).toContain('No rows yet');
    expect(find('[data-testid=picture] path')?.getAttribute('d')).toMatch(/^M/);
    host().view.set({ ...PLAIN_VIEW, search: 'nobody' });
    await settled();
    await say(opened(2, COLUMNS), frame(2, {}, { total: 0 }));
    expect(text('[data-testid=picture]')).toContain('No row matches');
    await press('Show all rows');
    expect(host().view()).toEqual(PLAIN_VIEW);
  });

  it('a fill is told with how far it has come', async () => {
    const status = { generations: [{ generation: 1, progress: { done: 1_500, of: 6_000, per_second: 9 } }] };
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(status))));
    world.socket.say(welcome());
    await say(feed('filling', 'Generation 1 is being read.'));
    await vi.waitUntil(() => text('[data-testid=picture]')?.includes('1,500 of 6,000'));
    expect(text('[data-testid=picture]')).toContain('Generation 1 is being read.');
    vi.unstubAllGlobals();
  });
});

describe('mounting', () => {
  it('the same table twice is one subscription, until one is scrolled elsewhere', async () => {
    host().tables.set(['users_ui', 'users_ui']);
    await settled();
    await thousand();
    expect(world.socket.heard('open').length).toBe(1);
    expect(texts('[data-testid=range]')).toEqual(['rows 1-22 of 1,000', 'rows 1-22 of 1,000']);
    await press('Last');
    await say(opened(2, COLUMNS), frame(2, numbered(928, 1_000), { offset: 928, total: 1_000 }));
    expect(texts('[data-testid=range]')).toEqual(['rows 979-1,000 of 1,000', 'rows 1-22 of 1,000']);
    expect(page().querySelectorAll('tr.live-table-waiting').length).toBe(0);
  });

  it('another table closes the first and forgets its rows', async () => {
    await answer();
    host().tables.set(['account']);
    await settled();
    expect(world.socket.last('close').sub).toBe(1);
    expect(world.socket.last('open').table).toBe('account');
    expect([text('[data-testid=range]'), texts('tbody tr')]).toEqual(['waiting for rows', []]);
  });

  it('and unmounting, over and over, leaves no subscription behind', async () => {
    for (let round = 0; round < 50; round += 1) {
      host().tables.set([]);
      await fixture.whenStable();
      host().tables.set(['users_ui']);
      await fixture.whenStable();
    }
    fixture.destroy();
    expect(hub.subscriptions).toBe(0);
    expect(world.socket.heard('open').length).toBe(world.socket.heard('close').length);
  });
});
