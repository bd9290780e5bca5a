import { frame, opened } from '@tablecast/client/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { PLAIN_VIEW } from './index.ts';
import {
  answer, button, cell, COLUMNS, find, fixture, host, key, mountGrid, numbered, page, press, say, settled, text, texts, thousand, world,
} from './mounted-grid.ts';

mountGrid();

describe('looking otherwise', () => {
  beforeEach(() => thousand());
  const openedAgain = () => world.socket.last('open');

  it('sorts by a head, and by several with shift', async () => {
    await press('age');
    expect(openedAgain().sort).toEqual([{ column: 'age', descending: false }]);
    expect(find('th[data-column=age]')?.getAttribute('aria-sort')).toBe('ascending');
    button('name')?.dispatchEvent(new MouseEvent('click', { shiftKey: true, bubbles: true }));
    await settled();
    expect(host().view().sort.map(({ column }) => column)).toEqual(['age', 'name']);
    expect(world.socket.heard('open').length - world.socket.heard('close').length).toBe(1);
  });

  it('keeps the rows until those of the new view are there, which then stand at their top', async () => {
    await press('Next');
    await press('age');
    expect(find('[data-testid=grid]')?.getAttribute('aria-busy')).toBe('true');
    expect(text('[data-testid=range]')).toBe('rows 22-43 of 1,000');
    await say(opened(2, COLUMNS), frame(2, numbered(200, 330), { total: 900 }));
    expect(text('[data-testid=range]')).toBe('rows 1-22 of 900');
    expect(find('tbody tr')?.getAttribute('data-row-id')).toBe('r200');
  });

  it('filters a column in its own words, and says what is wrong with them', async () => {
    find('[aria-label="Options of age"]')?.click();
    await settled();
    const value = find('[aria-label="What to compare with"]') as HTMLInputElement;
    const submit = async (typed: string) => {
      value.value = typed;
      value.dispatchEvent(new Event('input'));
      value.form?.requestSubmit();
      await settled();
    };
    await submit('old');
    expect(text('.live-table-wrong')).toContain('whole number');
    await submit('30');
    expect(openedAgain().filter).toEqual({ op: 'eq', column: 'age', value: '30' });
    expect(texts('.live-table-chips li')).toEqual(['age is 30']);
    find('[aria-label="Remove: age is 30"]')?.click();
    await settled();
    expect(host().view().filter).toBeNull();
  });

  it('searches a moment after the last letter', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const box = find('[data-testid=search]') as HTMLInputElement;
    for (const typed of ['a', 'an', 'ann']) {
      box.value = typed;
      box.dispatchEvent(new Event('input'));
      vi.advanceTimersByTime(100);
    }
    vi.advanceTimersByTime(200);
    vi.useRealTimers();
    await settled();
    expect([host().view().search, openedAgain().search]).toEqual(['ann', 'ann']);
    expect(world.socket.heard('open').length).toBe(2);
  });

  it('keeps the widths and the elements of the rows through another view with the same columns', async () => {
    const [row, tracks] = [find('[data-row-id=r3]'), find('table')?.style.getPropertyValue('--live-table-tracks')];
    await press('age');
    await say(opened(2, [...COLUMNS]), frame(2, { r3: { name: 'a far longer name than before', age: '1' } }, { total: 1 }));
    expect(find('[data-row-id=r3]')).toBe(row);
    expect(find('table')?.style.getPropertyValue('--live-table-tracks')).toBe(tracks);
  });

  it('forgets a search that was being written when another table comes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const box = find('[data-testid=search]') as HTMLInputElement;
    box.value = 'ann';
    box.dispatchEvent(new Event('input'));
    host().tables.set(['account']);
    await fixture.whenStable();
    vi.advanceTimersByTime(1_000);
    vi.useRealTimers();
    await settled();
    expect(host().view().search).toBe('');
  });

  it('says how many rows a search found, once, and not at each tick', async () => {
    const said = () => text('[data-testid=announcement]');
    expect(said()).toBe('');
    host().view.set({ ...PLAIN_VIEW, search: 'zoe' });
    await settled();
    expect(said()).toBe('');
    await say(opened(2, COLUMNS), frame(2, numbered(0, 3), { total: 3 }));
    expect(said()).toBe('3 rows found');
    await press('age');
    await say(opened(3, COLUMNS), frame(3, numbered(0, 3), { total: 3 }), frame(3, {}, { ids: ['r0', 'r1'], total: 2, revision: 2 }));
    expect(said()).toBe('sorted by age, ascending');
    host().view.set({ ...PLAIN_VIEW, search: 'nobody' });
    await settled();
    await say(opened(4, COLUMNS), frame(4, {}, { total: 0 }));
    expect(said()).toBe('No row matches. Rows that do will appear here by themselves.');
    await press('Show all rows');
    expect(text('[data-testid=picture]')).toContain('No row matches');
    await say(opened(5, COLUMNS), frame(5, numbered(0, 3), { total: 3 }));
    expect([said(), find('[data-testid=picture]')]).toEqual(['3 rows', null]);
  });

  it('follows a view that comes from outside', async () => {
    host().view.set({ sort: [], filter: null, search: 'zoe' });
    await settled();
    expect(openedAgain().search).toBe('zoe');
    expect((find('[data-testid=search]') as HTMLInputElement).value).toBe('zoe');
  });
});

describe('columns', () => {
  it('are hidden, moved and pinned, and stay so for this viewer', async () => {
    await answer();
    await press('Columns');
    find('[aria-label="Move age up"]')?.click();
    await settled();
    expect(texts('th')).toEqual(['age', 'name']);
    find('[aria-label="Pin name"]')?.click();
    await settled();
    expect(texts('th')).toEqual(['name', 'age']);
    expect(cell('a', 1)?.className).toContain('live-table-pinned');
    page().querySelectorAll<HTMLInputElement>('.live-table-columns input')[1]?.click();
    await settled();
    expect(texts('th')).toEqual(['name']);
    host().tables.set([]);
    await settled();
    host().tables.set(['users_ui']);
    await settled();
    await answer(2);
    expect(texts('th')).toEqual(['name']);
  });
});

describe('a panel beside the rows', () => {
  beforeEach(() => answer());
  const focused = () => document.activeElement?.textContent.trim();

  it('gives the focus back to what opened it', async () => {
    button('Columns')?.focus();
    await press('Columns');
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Close');
    await key('Escape');
    expect(focused()).toBe('Columns');
  });

  it('gives it to the rows where the column that opened it was hidden there', async () => {
    const more = find('[aria-label="Options of age"]');
    more?.focus();
    more?.click();
    await settled();
    await press('Hide');
    await settled();
    expect([texts('th'), focused()]).toEqual([['name'], 'Ann']);
    find('[aria-label="Options of name"]')?.click();
    await settled();
    expect(button('Hide')?.disabled).toBe(true);
  });
});

describe('a finger', () => {
  beforeEach(() => thousand());
  const touch = async (type: string) => {
    cell('r2', 1)?.dispatchEvent(Object.assign(new MouseEvent(type, { bubbles: true, button: 0 }), { pointerType: 'touch' }));
    await settled();
  };

  it('that scrolls chooses nothing, and one that taps does', async () => {
    await touch('pointerdown');
    await touch('pointercancel');
    expect(host().row()).toBeNull();
    await touch('pointerdown');
    await touch('click');
    expect(host().row()).toBe('r2');
  });
});

describe('single taps', () => {
  it('choose the first cell and the last one of what is copied', async () => {
    await thousand();
    const copied = vi.fn(() => Promise.resolve());
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: copied } });
    const tap = async (id: string, column: number) => {
      cell(id, column)?.dispatchEvent(Object.assign(new MouseEvent('pointerdown', { bubbles: true, button: 0 }), { pointerType: 'mouse' }));
      await settled();
    };
    await tap('r9', 1);
    await press('Details');
    await press('Choose cells');
    expect([find('.live-table-panel'), text('[data-testid=taps]')]).toEqual([null, 'Choose the first cell. CopyDone']);
    await tap('r1', 1);
    expect(text('[data-testid=taps]')).toContain('Choose the last cell.');
    await tap('r3', 2);
    expect(text('[data-testid=taps]')).toContain('3 rows × 2 chosen.');
    await press('Copy');
    expect(copied).toHaveBeenCalledWith('n1\t1\nn2\t1\nn3\t1');
    expect(text('[data-testid=note]')).toBe('Copied 3 rows × 2.');
    await press('Done');
    await tap('r5', 1);
    expect([find('[data-testid=taps]'), page().querySelectorAll('td.live-table-chosen').length]).toEqual([null, 0]);
    Reflect.deleteProperty(navigator, 'clipboard');
  });
});

describe('the keyboard', () => {
  const active = () => document.activeElement as HTMLElement;
  const where = () => [active().closest('tr')?.getAttribute('data-row-id') ?? 'head', active().closest('[aria-colindex]')?.getAttribute('aria-colindex')];

  beforeEach(async () => {
    await thousand();
    find('.live-table-scroll')?.focus();
    await settled();
  });

  it('enters at the first cell in view, and every cell and head can be reached', async () => {
    expect(where()).toEqual(['r0', '1']);
    expect(find('.live-table-scroll')?.tabIndex).toBe(-1);
    await key('ArrowRight');
    await key('ArrowDown');
    expect(where()).toEqual(['r1', '2']);
    await key('ArrowUp');
    await key('ArrowUp');
    expect(where()).toEqual(['head', '2']);
    await key('ArrowDown');
    expect(where()).toEqual(['r0', '2']);
    expect(page().querySelectorAll('td[tabindex="0"]').length).toBe(1);
  });

  it('goes a page, and to the end, and takes the view along', async () => {
    await key('PageDown');
    expect(where()).toEqual(['r21', '1']);
    await key('End', { ctrlKey: true });
    expect(text('[data-testid=range]')).toBe('rows 979-1,000 of 1,000');
    expect(active().closest('tr')?.getAttribute('aria-rowindex')).toBe('1001');
  });

  it('does not hold the view where the active cell is, and comes back to it with the next key', async () => {
    const scroll = find('.live-table-scroll');
    if (scroll !== null) scroll.scrollTop = 28 * 60;
    scroll?.dispatchEvent(new Event('scroll'));
    await settled();
    expect([text('[data-testid=range]'), active() === scroll]).toEqual(['rows 61-82 of 1,000', true]);
    await key('ArrowDown');
    expect(where()).toEqual(['r1', '1']);
  });

  it('stays with its row while the rows tick', async () => {
    await key('ArrowDown');
    const ids = ['new', ...Object.keys(numbered(0, 129))];
    await say(frame(1, { new: { name: 'New', age: '1' } }, { ids, revision: 2, total: 1_001 }));
    expect(where()).toEqual(['r1', '1']);
    expect(active().closest('tr')?.getAttribute('aria-rowindex')).toBe('4');
  });

  it('selects a row, and shows all of it', async () => {
    await key(' ');
    expect([host().row(), find('[data-row-id=r0]')?.getAttribute('aria-selected')]).toEqual(['r0', 'true']);
    await key('Enter');
    expect(texts('[data-testid=details] dd')).toEqual(['n0', '1']);
    expect(active().getAttribute('aria-label')).toBe('Close');
    await key('Escape');
    expect([find('[data-testid=details]'), where()]).toEqual([null, ['r0', '1']]);
    await key(' ');
    expect(host().row()).toBeNull();
  });

  it.each(['Enter', ' '])('leaves %j to a button of the head that has the focus', async (name) => {
    const more = find('[aria-label="Options of age"]');
    more?.focus();
    const press = new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true });
    more?.dispatchEvent(press);
    await settled();
    expect([press.defaultPrevented, host().row(), find('[data-testid=details]')]).toEqual([false, null, null]);
  });

  it('copies a range as a spreadsheet takes it', async () => {
    await key('ArrowDown', { shiftKey: true });
    await key('ArrowRight', { shiftKey: true });
    expect(page().querySelectorAll('td.live-table-chosen').length).toBe(4);
    const taken = vi.fn();
    const copy = Object.assign(new Event('copy', { bubbles: true, cancelable: true }), { clipboardData: { setData: taken } });
    active().dispatchEvent(copy);
    await settled();
    expect(taken).toHaveBeenCalledWith('text/plain', 'n0\t1\nn1\t1');
    expect(text('[data-testid=announcement]')).toBe('Copied 2 rows × 2.');
    await key('Escape');
    expect(page().querySelectorAll('td.live-table-chosen').length).toBe(0);
  });

  it('takes the view along across too', async () => {
    const scroll = find('.live-table-scroll');
    Object.defineProperty(scroll, 'clientWidth', { configurable: true, value: 90 });
    await key('ArrowRight');
    const across = scroll?.scrollLeft ?? 0;
    expect(across).toBeGreaterThan(0);
    await key('ArrowLeft');
    expect(scroll?.scrollLeft).toBeLessThan(across);
  });

  it('says for all to see what it copied, and what of it was not here', async () => {
    await key('End', { ctrlKey: true, shiftKey: true });
    active().dispatchEvent(Object.assign(new Event('copy', { bubbles: true, cancelable: true }), { clipboardData: { setData: vi.fn() } }));
    await settled();
    expect(text('[data-testid=note]')).toContain('870 rows are not loaded: export the view to have all.');
  });

  it('reaches the search and the options of a column', async () => {
    await key('ArrowDown', { altKey: true });
    expect(text('.live-table-panel h2')).toBe('name');
    await key('Escape');
    await key('/');
    expect(active().dataset['testid']).toBe('search');
  });
});
