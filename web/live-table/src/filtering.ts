import type { Condition } from '@tablecast/client';
import { filterOf, isCondition, OP_WORDS } from './column-filter.ts';

/** The parts of a filter that all have to hold. */
export function partsOf(filter: Condition | null): readonly Condition[] {
  if (filter === null) return [];
  const of = filter['of'];
  return filter.op === 'and' && Array.isArray(of) ? of.filter(isCondition) : [filter];
}

export function joined(parts: readonly Condition[]): Condition | null {
  const [first] = parts;
  if (first === undefined) return null;
  return parts.length === 1 ? first : { op: 'and', of: parts };
}

/** The part about one column, if there is one that asks nothing else. */
export function partAbout(filter: Condition | null, column: string): Condition | null {
  return partsOf(filter).find((part) => filterOf(part)?.column === column) ?? null;
}

/** The filter with another part about this column, or none. */
export function withPart(filter: Condition | null, column: string, part: Condition | null): Condition | null {
  const others = partsOf(filter).filter((each) => filterOf(each)?.column !== column);
  return joined(part === null ? others : [...others, part]);
}

export function withoutPart(filter: Condition | null, part: Condition): Condition | null {
  return joined(partsOf(filter).filter((each) => each !== part));
}

/** A part in words: `age is at least 30`. */
export function partText(part: Condition): string {
  const asked = filterOf(part);
  if (asked === null) return 'a filter of its own kind';
  const { column, filter } = asked;
  return `${column} ${OP_WORDS[filter.op]}${filter.value === '' ? '' : ` ${filter.value}`}`;
}
