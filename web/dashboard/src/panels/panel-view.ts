import type { Condition, SortKey } from '@tablecast/client';

/** How a panel looks at its table: the part of a view that a person changes. */
export interface PanelView {
  readonly sort: readonly SortKey[];
  readonly filter: Condition | null;
  readonly search: string;
}

export const PLAIN: PanelView = { sort: [], filter: null, search: '' };

export function isPlain({ sort, filter, search }: PanelView): boolean {
  return sort.length === 0 && filter === null && search === '';
}

/** `balance:desc,name:asc:de`, as the server's HTTP interface writes it. */
export function sortText(sort: readonly SortKey[]): string {
  return sort.map(({ column, descending, locale }) => [column, descending ? 'desc' : 'asc', ...(locale ? [locale] : [])].join(':')).join(',');
}

/** What cannot be read is left out: a link that somebody cut must still open the table. */
export function readSort(text: string): readonly SortKey[] {
  return text.split(',').flatMap((part) => {
    const [column = '', direction = 'asc', locale] = part.trim().split(':');
    if (column === '' || !['asc', 'desc'].includes(direction)) return [];
    return [{ column, descending: direction === 'desc', ...(locale ? { locale } : {}) }];
  });
}

export function readFilter(text: string): Condition | null {
  try {
    return asFilter(JSON.parse(text, exact));
  } catch {
    return null;
  }
}

/** A whole number that a double would round stays as it is written: the server takes its digits as text too. */
function exact(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const written = context?.source ?? '';
  return typeof value === 'number' && /^-?\d+$/.test(written) && !Number.isSafeInteger(value) ? written : value;
}

/** A view that was kept somewhere, as far as it is one. */
export function readView(value: unknown): PanelView {
  const { sort, filter, search } = (typeof value === 'object' && value !== null ? value : {}) as Partial<Record<string, unknown>>;
  return {
    sort: Array.isArray(sort) ? sort.filter(isSortKey) : [],
    filter: asFilter(filter),
    search: typeof search === 'string' ? search : '',
  };
}

function asFilter(value: unknown): Condition | null {
  return typeof value === 'object' && value !== null && 'op' in value && typeof value.op === 'string' ? (value as Condition) : null;
}

function isSortKey(value: unknown): value is SortKey {
  if (typeof value !== 'object' || value === null) return false;
  const { column, descending } = value as Partial<Record<string, unknown>>;
  return typeof column === 'string' && typeof descending === 'boolean';
}
