import { Component, signal } from '@angular/core';
import type { ComponentFixture } from '@angular/core/testing';
import { TestBed } from '@angular/core/testing';
import { TableHub } from '@tablecast/client';
import { errorMessage, FakeWorld, frame, opened } from '@tablecast/client/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { LiveTableGrid, provideTableHub } from './index.ts';

const COLUMNS = [
  { name: 'name', type: 'string' },
  { name: 'age', type: 'int64' },
];

@Component({
  selector: 'live-table-host',
  imports: [LiveTableGrid],
  template: `
    @for (table of tables(); track $index) {
      <live-table [table]="table" [pageSize]="2" />
    }
  `,
})
class Host {
  readonly tables = signal(['users_ui']);
}

let world: FakeWorld;
let hub: TableHub;
let fixture: ComponentFixture<Host>;

const page = () => fixture.nativeElement as HTMLElement;
const find = (selector: string) => page().querySelector<HTMLElement>(selector);
const text = (selector: string) => find(selector)?.textContent.replace(/\s+/g, ' ').trim();
const texts = (selector: string) => [...page().querySelectorAll(selector)].map((node) => node.textContent.trim());
const button = (label: string) => [...page().querySelectorAll('button')].find((each) => each.textContent === label);

async function press(label: string): Promise<void> {
  button(label)?.click();
  await fixture.whenStable();
}

async function say(...messages: Parameters<FakeWorld['socket']['say']>[0][]): Promise<void> {
  for (const message of messages) world.socket.say(message);
  await fixture.whenStable();
}

const ROWS = { a: { name: 'Ann', age: '9007199254740993' }, b: { name: 'Bob', age: null } };
const answer = (sub = 1) => say(opened(sub, COLUMNS), frame(sub, ROWS, { total: 5 }));

beforeEach(async () => {
  world = new FakeWorld();
  hub = new TableHub({ url: 'localhost', key: 'sesame' }, world.environment);
  const provider = provideTableHub(() => signal(hub));
  fixture = TestBed.configureTestingModule({ providers: [provider] }).createComponent(Host);
  await fixture.whenStable();
  world.socket.welcome();
});

describe('showing rows', () => {
  it('waits, then shows columns, rows and the range', async () => {
    expect(text('[data-testid=range]')).toBe('waiting for rows');
    expect(find('[data-testid=grid]')?.getAttribute('aria-busy')).toBe('true');
    await answer();
    expect(texts('th')).toEqual(['name', 'age']);
    expect([...page().querySelectorAll('tbody tr')].map((row) => row.getAttribute('data-row-id'))).toEqual(['a', 'b']);
    expect(text('[data-testid=range]')).toBe('rows 1-2 of 5');
    expect(find('[data-testid=grid]')?.getAttribute('aria-busy')).toBe('false');
  });

  it('shows a large number whole and on the right, and a null as a dash with words for a screen reader', async () => {
    await answer();
    const cell = find('[data-row-id=a] td:nth-child(2)');
    expect(cell?.textContent.trim()).toBe('9007199254740993');
    expect(cell?.className).toContain('live-table-number');
    expect(text('[data-row-id=b] td:nth-child(2)')).toBe('–no value');
  });

  it('names the table for a screen reader, and lets the keyboard reach the rows', async () => {
    await answer();
    expect(text('caption')).toBe('users_ui');
    expect(texts('th[scope=col]').length).toBe(2);
    expect(find('[role=region]')?.tabIndex).toBe(0);
    expect(text('[aria-live=polite]')).toBe('users_ui, from row 1');
  });

  it('takes the new columns of a swap', async () => {
    await answer();
    await say(opened(1, [{ name: 'city', type: 'string' }], 2), frame(1, { z: { city: 'Bern' } }, { generation: 2, revision: 2 }));
    expect([texts('th'), texts('td')]).toEqual([['city'], ['Bern']]);
  });
});

describe('changes', () => {
  beforeEach(() => answer());

  it('flash in their cell, again at the next change, and not after the flash', async () => {
    const cell = find('[data-row-id=a] td:nth-child(1)');
    const change = (name: string, revision: number) =>
      say(frame(1, { a: { name, age: '9007199254740993' } }, { ids: ['a', 'b'], revision, total: 5 }));
    await change('Anne', 2);
    expect(cell?.className).toBe('live-table-flash');
    await change('Anna', 3);
    expect(cell?.className).toBe('live-table-flash-again');
    cell?.dispatchEvent(new Event('animationend', { bubbles: true }));
    await fixture.whenStable();
    expect(cell?.className).toBe('');
    expect(page().querySelectorAll('[class*=flash]').length).toBe(0);
  });

  it('keep the element of a row, wherever the row goes', async () => {
    const row = find('[data-row-id=b]');
    await say(frame(1, {}, { ids: ['b', 'a'], revision: 2, total: 5 }));
    expect(find('tbody tr')).toBe(row);
  });
});

describe('turning pages', () => {
  beforeEach(() => answer());

  it('asks for the next, the previous and the first window', async () => {
    expect([button('First')?.disabled, button('Prev')?.disabled, button('Next')?.disabled]).toEqual([true, true, false]);
    await press('Next');
    expect(world.socket.last('move')).toMatchObject({ request: 2, offset: 2, size: 2 });
    await say(frame(1, { c: {}, d: {} }, { request: 2, revision: 2, offset: 2, total: 5 }));
    expect(text('[data-testid=range]')).toBe('rows 3-4 of 5');
    expect(text('[aria-live=polite]')).toBe('users_ui, from row 3');
    await press('Prev');
    expect(world.socket.last('move')).toMatchObject({ request: 3, offset: 0 });
    await press('First');
    expect(world.socket.heard('move').length).toBe(2);
  });

  it('asks for the same window again on Refresh', async () => {
    await press('Refresh');
    expect(world.socket.last('move')).toMatchObject({ offset: 0, size: 2 });
  });
});

describe('problems', () => {
  it('are told in the words of the server', async () => {
    await say(errorMessage('unknown_table', 1));
    expect(text('[data-testid=problem]')).toBe('The server says unknown_table. Do the other thing.');
  });

  it('of the connection leave the rows in place, marked as waiting', async () => {
    await answer();
    world.socket.drop();
    await fixture.whenStable();
    expect(texts('tbody tr').length).toBe(2);
    expect(find('[data-testid=grid]')?.getAttribute('aria-busy')).toBe('true');
  });
});

describe('mounting', () => {
  it('the same table twice is one subscription', async () => {
    fixture.componentInstance.tables.set(['users_ui', 'users_ui']);
    await fixture.whenStable();
    await answer();
    expect(world.socket.heard('open').length).toBe(1);
    expect(texts('[data-testid=range]')).toEqual(['rows 1-2 of 5', 'rows 1-2 of 5']);
  });

  it('another table closes the first and forgets its rows', async () => {
    await answer();
    fixture.componentInstance.tables.set(['account']);
    await fixture.whenStable();
    expect(world.socket.last('close').sub).toBe(1);
    expect(world.socket.last('open').table).toBe('account');
    expect(text('[data-testid=range]')).toBe('waiting for rows');
  });

  it('and unmounting, over and over, leaves no subscription behind', async () => {
    for (let round = 0; round < 50; round += 1) {
      fixture.componentInstance.tables.set([]);
      await fixture.whenStable();
      fixture.componentInstance.tables.set(['users_ui']);
      await fixture.whenStable();
    }
    fixture.destroy();
    expect(hub.subscriptions).toBe(0);
    expect(world.socket.heard('open').length).toBe(world.socket.heard('close').length);
  });
});
