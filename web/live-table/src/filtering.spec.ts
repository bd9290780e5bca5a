import { describe, expect, it } from 'vitest';
import type { ColumnFilter } from './column-filter.ts';
import { conditionOf, filterOf, opsOf, valueProblem, written } from './column-filter.ts';
import { partAbout, partsOf, partText, withoutPart, withPart } from './filtering.ts';

const column = (type: string, name = 'c') => ({ name, type });

describe('a filter of one column', () => {
  it.each([
    ['string', { op: 'contains', value: 'Ann' }, { op: 'contains', column: 'c', value: 'Ann' }],
    ['int64', { op: 'ge', value: '9007199254740993' }, { op: 'ge', column: 'c', value: '9007199254740993' }],
    ['double', { op: 'lt', value: '12.5' }, { op: 'lt', column: 'c', value: 12.5 }],
    ['boolean', { op: 'false', value: '' }, { op: 'eq', column: 'c', value: false }],
    ['timestamp', { op: 'ge', value: '2026-01-02T03:04' }, { op: 'ge', column: 'c', value: '2026-01-02T03:04:00.000Z' }],
    ['string', { op: 'null', value: '' }, { op: 'null', column: 'c' }],
    ['string', { op: 'filled', value: '' }, { op: 'not', of: { op: 'null', column: 'c' } }],
  ] as const)('of a %s %j is said as the server understands it, and read again', (type, filter, condition) => {
    expect(conditionOf(column(type), filter)).toEqual(condition);
    expect(filterOf(condition)?.column).toBe('c');
    expect(filterOf(condition)?.filter.op).toBe(filter.op);
  });

  it('offers what its type can be asked', () => {
    expect(opsOf(column('string'))[0]).toBe('contains');
    expect(opsOf(column('int64'))).not.toContain('contains');
    expect(opsOf(column('unheard of'))).toEqual(['null', 'filled']);
  });

  it.each([
    ['int64', '12.5', 'whole number'],
    ['int64', '', 'something'],
    ['double', 'twelve', 'a number'],
    ['double', '1e999', 'smaller'],
    ['timestamp', 'soon', 'a date'],
  ])('says what is wrong with a %s of %j', (type, value, words) => {
    expect(valueProblem(column(type), { op: 'ge', value })).toContain(words);
  });

  it.each([
    ['int64', '-7'],
    ['double', '-.5e3'],
    ['timestamp', '2026-01-02T03:04'],
    ['string', ' '],
  ])('takes a %s of %j', (type, value) => {
    expect(valueProblem(column(type), { op: 'eq', value })).toBeNull();
  });

  it('is written in the field as the field takes it, and text is left as it is', () => {
    const filter: ColumnFilter = { op: 'ge', value: '2026-01-02T03:04:00.000Z' };
    expect(written(column('timestamp'), filter).value).toBe('2026-01-02T03:04:00.000');
    expect(written(column('string'), filter).value).toBe('2026-01-02T03:04:00.000Z');
    expect(filterOf({ op: 'eq', column: 'c', value: '2026-01-02T03:04:00Z' })?.filter.value).toBe('2026-01-02T03:04:00Z');
  });

  it('without a value needs none', () => {
    const filter: ColumnFilter = { op: 'null', value: '' };
    expect(valueProblem(column('int64'), filter)).toBeNull();
  });
});

describe('a filter of several', () => {
  const old = { op: 'ge', column: 'age', value: '30' };
  const ann = { op: 'contains', column: 'name', value: 'ann' };
  const either = { op: 'or', of: [old, ann] };

  it('is put together and taken apart', () => {
    const both = withPart(old, 'name', ann);
    expect(both).toEqual({ op: 'and', of: [old, ann] });
    expect(partAbout(both, 'name')).toBe(ann);
    expect(withPart(both, 'age', { ...old, value: '40' })).toEqual({ op: 'and', of: [ann, { ...old, value: '40' }] });
    expect(withPart(both, 'age', null)).toBe(ann);
    expect(withPart(old, 'age', null)).toBeNull();
    expect(partsOf(null)).toEqual([]);
  });

  it('keeps what nobody can write in one column’s words', () => {
    expect(withPart(either, 'name', ann)).toEqual({ op: 'and', of: [either, ann] });
    expect(withoutPart({ op: 'and', of: [either, ann] }, either)).toBe(ann);
    expect(filterOf(either)).toBeNull();
    expect(filterOf({ op: 'in', column: 'age', values: ['1'] })).toBeNull();
  });

  it('is told in words', () => {
    expect([old, { op: 'null', column: 'age' }, either].map(partText)).toEqual([
      'age is at least 30',
      'age has no value',
      'a filter of its own kind',
    ]);
  });
});
