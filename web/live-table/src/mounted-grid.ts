import { Component, signal } from '@angular/core';
import type { ComponentFixture } from '@angular/core/testing';
import { TestBed } from '@angular/core/testing';
import { TableHub } from '@tablecast/client';
import { FakeWorld, frame, opened } from '@tablecast/client/testing';
import { afterEach, beforeEach } from 'vitest';
import type { GridView } from './index.ts';
import { LiveTableGrid, PLAIN_VIEW, provideTableHub } from './index.ts';

export const COLUMNS = [
  { name: 'name', type: 'string' },
  { name: 'age', type: 'int64' },
];

/** A page with grids on it. */
@Component({
  selector: 'live-table-host',
  imports: [LiveTableGrid],
  template: `
    @for (table of tables(); track $index) {
      <live-table [table]="table" [(view)]="view" [(row)]="row" />
    }
  `,
})
class Host {
  readonly tables = signal(['users_ui']);
  readonly view = signal<GridView>(PLAIN_VIEW);
  readonly row = signal<string | null>(null);
}

export let world: FakeWorld;
export let hub: TableHub;
export let fixture: ComponentFixture<Host>;

export const page = () => fixture.nativeElement as HTMLElement;
export const find = (selector: string) => page().querySelector<HTMLElement>(selector);
export const text = (selector: string) => find(selector)?.textContent.replace(/\s+/g, ' ').trim();
export const texts = (selector: string) => [...page().querySelectorAll(selector)].map((node) => node.textContent.trim());
export const button = (label: string) => [...page().querySelectorAll('button')].find((each) => each.textContent.trim() === label);
export const host = () => fixture.componentInstance;
export const cell = (id: string, column: number) => find(`[data-row-id="${id}"] td:nth-child(${String(column)})`);

/** Angular has rendered, and the animation frame that paints the rows is over: rows that come all the time have every second one. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await fixture.whenStable();
    await new Promise(requestAnimationFrame);
  }
  await fixture.whenStable();
}

export async function press(label: string): Promise<void> {
  button(label)?.click();
  await settled();
}

export async function key(name: string, held: KeyboardEventInit = {}): Promise<void> {
  document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true, ...held }));
  await settled();
}

export async function say(...messages: Parameters<FakeWorld['socket']['say']>[0][]): Promise<void> {
  for (const message of messages) world.socket.say(message);
  await settled();
}

const ROWS = { a: { name: 'Ann', age: '9007199254740993' }, b: { name: 'Bob', age: null } };
export const answer = (sub = 1) => say(opened(sub, COLUMNS), frame(sub, ROWS, { total: 2 }));
export const numbered = (from: number, to: number) =>
  Object.fromEntries(Array.from({ length: to - from }, (_, at) => [`r${String(from + at)}`, { name: `n${String(from + at)}`, age: '1' }]));
/** A table of a thousand rows, of which the first window is here. */
export const thousand = () => say(opened(1, COLUMNS), frame(1, numbered(0, 130), { total: 1_000 }));

/** Mounts the grid of one table in a page of its own, before each test, with a socket whose other end is the test. */
export function mountGrid(): void {
  beforeEach(async () => {
    world = new FakeWorld();
    hub = new TableHub({ url: 'localhost', key: 'sesame' }, world.environment);
    const provider = provideTableHub(() => signal(hub));
    fixture = TestBed.configureTestingModule({ providers: [provider] }).createComponent(Host);
    document.body.append(page());
    await fixture.whenStable();
    world.socket.welcome();
  });

  afterEach(() => {
    localStorage.clear();
  });
}
