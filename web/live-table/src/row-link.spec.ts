import { frame, opened } from '@tablecast/client/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { COLUMNS, find, host, mountGrid, numbered, press, say, settled, text, thousand, world } from './mounted-grid.ts';

mountGrid();

const asked = () => world.socket.heard('find').map(({ row }) => row);
const found = (row: string, index: number | null, sub = 1) => say({ type: 'found', sub, row, index });
const link = async (row: string | null) => {
  host().row.set(row);
  await settled();
};

describe('a row that a link names', () => {
  beforeEach(() => thousand());

  it('comes into the middle of the view from far outside the window, selected and active', async () => {
    await link('r700');
    expect(asked()).toEqual(['r700']);
    await found('r700', 700);
    const { offset, request } = world.socket.last('move');
    await say(frame(1, numbered(offset, offset + 130), { total: 1_000, offset, request, revision: 2 }));
    expect(text('[data-testid=range]')).toBe('rows 690-712 of 1,000');
    expect(find('[data-row-id=r700]')?.getAttribute('aria-selected')).toBe('true');
    expect(find('[data-row-id=r700] td')?.className).toContain('live-table-active');
  });

  it('is looked for once, and one that was chosen in the grid is not', async () => {
    find('[data-row-id=r3] td')?.dispatchEvent(new MouseEvent('pointerdown', { bubbles: true, button: 0 }));
    await settled();
    expect([host().row(), asked()]).toEqual(['r3', []]);
    await link('r5');
    await found('r5', 5);
    await say(frame(1, {}, { ids: Object.keys(numbered(0, 130)), total: 1_001, revision: 2 }));
    expect(asked()).toEqual(['r5']);
  });

  it('and that the view does not have is said to be missing, and looked for again in another view', async () => {
    await link('gone');
    await found('gone', null);
    expect(text('[data-testid=missing]')).toContain('The row gone of the link is not in this view.');
    await press('age');
    await say(opened(2, COLUMNS), frame(2, numbered(0, 130), { total: 1_000 }));
    await found('gone', 40, 2);
    expect([find('[data-testid=missing]'), text('[data-testid=range]')]).toEqual([null, 'rows 30-52 of 1,000']);
    expect(asked()).toEqual(['gone', 'gone']);
  });

  it('is forgotten when another is chosen before the answer', async () => {
    await link('r700');
    await link(null);
    await found('r700', 700);
    expect([text('[data-testid=range]'), find('[data-testid=missing]')]).toEqual(['rows 1-22 of 1,000', null]);
  });
});
