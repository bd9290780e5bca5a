import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answer, COLUMNS, leave, Visit } from '../testing/visit.ts';

let visit: Visit;

beforeEach(() => {
  visit = new Visit();
});

afterEach(leave);

describe('the first visit', () => {
  it('shows the tables that everybody has, one subscription each', async () => {
    await visit.enter();
    expect(visit.shown()).toEqual(['users_ui', 'final_ui']);
    expect(visit.open().sort()).toEqual(['final_ui', 'orchestrator_status', 'users_ui']);
  });

  it('shows the first tables of a catalogue of one’s own', async () => {
    visit.paths['/api/tables'] = () => answer({ tables: ['orders', 'items'].map((name) => ({ name, columns: COLUMNS, rows: 0, generation: 1 })), aliases: {} });
    await visit.enter();
    expect(visit.shown()).toEqual(['orders', 'items']);
  });
});

describe('choosing a table', () => {
  it('shows it in the active panel, and closes what was there', async () => {
    await visit.enter();
    await visit.click('table-account');
    expect(visit.shown()).toEqual(['account', 'final_ui']);
    expect(visit.open().sort()).toEqual(['account', 'final_ui', 'orchestrator_status']);
  });

  it('goes to the panel that shows it already', async () => {
    await visit.enter();
    await visit.click('table-final_ui');
    expect(visit.shown()).toEqual(['users_ui', 'final_ui']);
    expect(visit.find('table-final_ui')?.getAttribute('aria-current')).toBe('true');
  });
});

describe('the layout', () => {
  it('is rearranged by keys and by the menu, and kept', async () => {
    await visit.enter();
    await visit.press('KeyB');
    expect(visit.shown()).toEqual(['users_ui', 'users_ui', 'final_ui']);
    await visit.click('table-account');
    await visit.press('ArrowUp');
    expect(visit.shown()).toEqual(['account', 'users_ui', 'final_ui']);
    await visit.press('ArrowRight');
    expect(visit.shown()).toEqual(['users_ui', 'account', 'final_ui']);
    const kept = localStorage.getItem('tablecast.layout') ?? '';
    expect(JSON.parse(kept)).toHaveLength(2);
    await visit.press('KeyX');
    expect(visit.shown()).toEqual(['users_ui', 'final_ui']);
    await visit.press('KeyN');
    expect(visit.find('table-final_ui')?.getAttribute('aria-current')).toBe('true');
  });

  it('of the last visit is there again', async () => {
    const panel = (shows: string) => ({ shows, view: { sort: [{ column: 'name', descending: true }] }, share: 1 });
    localStorage.setItem('tablecast.layout', JSON.stringify([{ share: 1, panels: [panel('account')] }]));
    await visit.enter();
    expect(visit.shown()).toEqual(['account']);
    expect(visit.world.socket.heard('open').find(({ table }) => table === 'account')?.sort).toEqual([{ column: 'name', descending: true }]);
  });

  it('two panels of one table share one subscription', async () => {
    await visit.enter();
    await visit.press('KeyR');
    expect(visit.shown()).toEqual(['users_ui', 'users_ui', 'final_ui']);
    expect(visit.open().filter((table) => table === 'users_ui')).toHaveLength(1);
  });

  it('has edges that move by keys', async () => {
    await visit.enter();
    const edge = visit.find('edge');
    expect([edge?.getAttribute('role'), edge?.getAttribute('aria-valuenow')]).toEqual(['separator', '50']);
    edge?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
    await visit.settle();
    expect(visit.find('edge')?.getAttribute('aria-valuenow')).toBe('52');
  });

  it('gives a panel more room by the menu too, for whoever does not drag', async () => {
    await visit.enter();
    await visit.click('size-wider');
    expect(visit.find('edge')?.getAttribute('aria-valuenow')).toBe('55');
    await visit.click('size-narrower');
    await visit.click('size-narrower');
    expect(visit.find('edge')?.getAttribute('aria-valuenow')).toBe('45');
    expect((visit.find('size-taller') as HTMLButtonElement).disabled).toBe(true);
  });
});

describe('a link', () => {
  it('opens one table as it was looked at, alone', async () => {
    history.replaceState(null, '', '/#key=sesame&table=account&sort=name:desc&search=ann&row=0-7');
    await visit.mount();
    await visit.welcomed();
    expect(visit.shown()).toEqual(['account']);
    expect(visit.world.socket.heard('open').find(({ table }) => table === 'account')).toMatchObject({ sort: [{ column: 'name', descending: true }], search: 'ann' });
    expect(location.hash).toBe('#table=account&sort=name:desc&search=ann&row=0-7');
    await visit.click('show-all');
    expect([visit.shown(), location.hash]).toEqual([['users_ui', 'final_ui'], '']);
  });

  it('to another table leaves the panel as it was that stood alone', async () => {
    const view = { sort: [{ column: 'name', descending: true }] };
    localStorage.setItem('tablecast.layout', JSON.stringify([{ share: 1, panels: [{ shows: 'account', view, share: 1 }] }]));
    await visit.enter();
    await visit.press('Enter');
    expect(location.hash).toBe('#table=account&sort=name:desc');
    await visit.click('table-users_ui');
    await visit.click('show-all');
    expect(visit.shown()).toEqual(['account']);
    expect(visit.world.socket.last('open')).toMatchObject({ table: 'account', ...view });
  });

  it('is copied, or shown where the browser does not let the page copy, as over plain http', async () => {
    await visit.enter();
    const link = `${location.origin}/#table=users_ui`;
    vi.stubGlobal('navigator', { clipboard: undefined });
    await visit.click('copy-link');
    expect([visit.field('link').value, visit.text('copy-link')]).toEqual([link, 'Copy link']);
    const writeText = vi.fn(() => Promise.resolve());
    vi.stubGlobal('navigator', { clipboard: { writeText } });
    await visit.click('copy-link');
    expect([writeText.mock.calls, visit.find('link'), visit.text('copy-link')]).toEqual([[[link]], null, 'Copied']);
  });

  it('is what the address bar says of a panel that stands alone', async () => {
    await visit.enter();
    expect(location.hash).toBe('');
    await visit.press('Enter');
    expect([visit.shown(), location.hash]).toEqual([['users_ui'], '#table=users_ui']);
    await visit.click('table-account');
    expect([visit.shown(), location.hash]).toEqual([['account'], '#table=account']);
    history.replaceState(null, '', '/');
    window.dispatchEvent(new Event('hashchange'));
    await visit.settle();
    expect(visit.shown()).toEqual(['users_ui', 'final_ui']);
  });
});

describe('a chosen row', () => {
  const linked = async (table: string, row: string) => {
    history.replaceState(null, '', `/#key=sesame&table=${table}&row=${row}`);
    await visit.mount();
    await visit.welcomed();
    await visit.orchestrator();
    await visit.orchestrator({ state: 'building' });
    expect(location.hash).toBe(`#table=${table}&row=${row}`);
    await visit.orchestrator({ usersTopic: 'users_v2', generation: '4' });
  };

  it('is chosen no more when another topic has another record in its place', async () => {
    await linked('users_ui', '0-7');
    expect(location.hash).toBe('#table=users_ui');
  });

  it('stays chosen through a swap where its key names it', async () => {
    await linked('account', 'u7');
    expect(location.hash).toBe('#table=account&row=u7');
  });
});

it('the theme is the system’s unless one is chosen, and that is kept', async () => {
  await visit.mount();
  const theme = () => document.documentElement.dataset['theme'];
  expect(theme()).toBeUndefined();
  visit.field('theme').value = 'dark';
  visit.field('theme').dispatchEvent(new Event('change'));
  await visit.settle();
  expect([theme(), localStorage.getItem('tablecast.theme')]).toEqual(['dark', 'dark']);
  visit.field('theme').value = 'system';
  visit.field('theme').dispatchEvent(new Event('change'));
  await visit.settle();
  expect([theme(), localStorage.getItem('tablecast.theme')]).toEqual([undefined, null]);
});
