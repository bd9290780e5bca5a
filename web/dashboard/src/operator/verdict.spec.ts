import { expect, it } from 'vitest';
import { controlRows, verdictSentence, verdictWord } from './verdict.ts';

const COLUMNS = ['id', 'received', 'text', 'verdict', 'reason', 'generation'].map((name) => ({ name, type: 'string' }));
const rowsOf = (...cells: (string | null)[][]) =>
  controlRows({ generation: 1, revision: 1, columns: COLUMNS, total: cells.length, offset: 0, rows: cells.map((each) => ({ id: each[0] ?? '', cells: each })) });

it('tells what was asked for, and whether it was only asked', () => {
  const text = '{"usersTopic": "u2", " AccountsTopic": "a2", "joinType": "inner", "dryRun": true, "note": "x"}';
  const [row] = rowsOf(['m1', '2026-01-01T00:00:00Z', text, 'would_apply', 'fine', null]);
  expect([row?.asked, row?.dryRun, row?.verdict]).toEqual(['u2 · a2 · inner', true, 'would_apply']);
});

it.each(['swap!', '[1]', '{}', 'null', ''])('shows what is no message as it came: %s', (text) => {
  const [row] = rowsOf(['m1', '', text, 'rejected', 'no', null]);
  expect([row?.asked, row?.dryRun]).toEqual([text, false]);
});

it('says each verdict in words', () => {
  const said = (verdict: string, reason: string | null, generation: string | null, text = '{}') => {
    const [row] = rowsOf(['m1', '', text, verdict, reason, generation]);
    return row && `${verdictWord(row.verdict)} ${verdictSentence(row)}`;
  };
  expect(said('pending', null, null)).toBe('pending It is being looked at.');
  expect(said('pending', null, null, '{"dryRun":true}')).toBe('pending The dry run is being looked at.');
  expect(said('applied', null, '4')).toBe('applied as generation 4.');
  expect(said('rejected', 'there is no topic.', null)).toBe('refused there is no topic.');
  expect(said('no_change', 'generation 4 shows this already', '4')).toBe('no change generation 4 shows this already.');
  expect(said('sideways', null, null)).toBe('sideways ');
});
