import { expect, it } from 'vitest';
import { rateBetween, readFigures } from './exposition.ts';

const text = (updates: number, generation = 3) => `# HELP tablecast_rows Rows of a table.
# TYPE tablecast_rows gauge
tablecast_rows{table="users_ui"} 12
tablecast_rows{table="account"} 7
tablecast_table_updates{table="users_ui"} ${String(updates)}
tablecast_table_updates{table="account"} 5
tablecast_table_age_seconds{table="users_ui"} 1.5
tablecast_generation ${String(generation)}
tablecast_tick_seconds_bucket{le="0.001"} 4
tablecast_refusals_total{code="wrong_key"} 1
`;

it('reads what the page shows, and nothing else', () => {
  const figures = readFigures(text(40), 1000);
  expect([...figures.rows]).toEqual([['users_ui', 12], ['account', 7]]);
  expect([figures.updates.get('users_ui'), figures.ages.get('users_ui'), figures.generation, figures.at]).toEqual([40, 1.5, 3, 1000]);
  expect(readFigures('<html>', 0).rows.size).toBe(0);
});

it('tells changes a second, and not across a swap', () => {
  const before = readFigures(text(40), 1000);
  expect(rateBetween(before, readFigures(text(60), 3000), ['users_ui', 'account'])).toBe(10);
  expect(rateBetween(before, readFigures(text(4, 4), 3000), ['users_ui'])).toBeNull();
  expect(rateBetween(before, before, ['users_ui'])).toBeNull();
  expect(rateBetween(before, readFigures(text(10), 3000), ['users_ui'])).toBe(0);
});
