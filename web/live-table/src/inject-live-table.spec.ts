import { Component, signal } from '@angular/core';
import type { ComponentFixture } from '@angular/core/testing';
import { TestBed } from '@angular/core/testing';
import type { Shape } from '@tablecast/client';
import { TableHub } from '@tablecast/client';
import { FakeWorld, frame, opened } from '@tablecast/client/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { injectConnection, injectLiveTable, provideTableHub } from './index.ts';

const GROUPS: Shape = { group: { by: ['accountType'], aggregates: [{ op: 'sum', column: 'balance' }] } };
const COLUMNS = [
  { name: 'accountType', type: 'string' },
  { name: 'sum_balance', type: 'double' },
];

@Component({ selector: 'live-table-chart', template: '' })
class Chart {
  readonly table = signal('final_ui');
  readonly view = signal<Shape>(GROUPS);
  readonly size = signal(50);
  readonly live = injectLiveTable({ table: this.table, view: this.view, pageSize: this.size });
  readonly status = injectLiveTable({ table: this.table, view: this.view });
  readonly connection = injectConnection();
}

let world: FakeWorld;
let fixture: ComponentFixture<Chart>;
const hub = signal<TableHub | null>(null);
const chart = () => fixture.componentInstance;

beforeEach(async () => {
  world = new FakeWorld();
  hub.set(new TableHub({ url: 'localhost', key: 'k' }, world.environment));
  fixture = TestBed.configureTestingModule({ providers: [provideTableHub(() => hub)] }).createComponent(Chart);
  await fixture.whenStable();
  world.socket.welcome();
  world.socket.say(opened(1, COLUMNS));
  world.socket.say(frame(1, { '["GOLD"]': { accountType: 'GOLD', sum_balance: 12.5 } }));
  await new Promise(requestAnimationFrame);
});

describe('a live table as signals', () => {
  it('shows groups, and shares the subscription with one that chose no window', () => {
    expect(world.socket.heard('open')).toMatchObject([{ table: 'final_ui', offset: 0, size: 50, group: GROUPS.group }]);
    expect(chart().live.state()?.snapshot?.rows[0]?.cells).toEqual(['GOLD', 12.5]);
    expect(chart().status.state()?.snapshot?.rows[0]?.cells).toEqual(['GOLD', 12.5]);
    expect(chart().connection()?.phase).toBe('live');
  });

  it('moves, refreshes, and grows with its page size', async () => {
    chart().live.move(10);
    expect(world.socket.last('move')).toMatchObject({ offset: 10, size: 50 });
    world.socket.say(frame(1, {}, { request: 2, revision: 2, offset: 10, total: 60 }));
    chart().size.set(80);
    await fixture.whenStable();
    expect(world.socket.last('move')).toMatchObject({ offset: 10, size: 80 });
    world.socket.say(frame(1, {}, { request: 3, revision: 3, offset: 10, total: 60 }));
    chart().live.refresh();
    expect(world.socket.last('move').request).toBe(4);
  });

  it('keeps its rows through another view of the same table, and not through another table', async () => {
    chart().view.set({ sort: [{ column: 'balance', descending: true }] });
    await fixture.whenStable();
    expect(chart().live.state()).toMatchObject({ fresh: false, snapshot: { rows: [{ cells: ['GOLD', 12.5] }] } });
    expect(world.socket.heard('close').length).toBe(1);
    chart().table.set('account');
    await fixture.whenStable();
    expect(chart().live.state()?.snapshot).toBeNull();
  });

  it('does not open an equal view again', async () => {
    chart().view.set({ group: { by: ['accountType'], aggregates: [{ op: 'sum', column: 'balance' }] } });
    await fixture.whenStable();
    expect(world.socket.heard('open').length).toBe(1);
  });

  it('follows the hub, and shows nothing where there is none', async () => {
    hub.set(null);
    await fixture.whenStable();
    expect([chart().live.state(), chart().connection()]).toEqual([null, null]);
    expect(world.socket.heard('close').length).toBe(1);
  });
});
