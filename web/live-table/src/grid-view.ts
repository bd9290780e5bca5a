import type { Condition, SortKey } from '@tablecast/client';

/** How somebody looks at a table: what a deep link keeps. */
export interface GridView {
  readonly sort: readonly SortKey[];
  readonly filter: Condition | null;
  readonly search: string;
}

export const PLAIN_VIEW: GridView = { sort: [], filter: null, search: '' };

/** Whether any row may be missing in this view. */
export function isNarrowed({ filter, search }: GridView): boolean {
  return filter !== null || search !== '';
}
