import type { PanelView } from './panel-view.ts';
import { isPlain, PLAIN, readFilter, readSort, sortText } from './panel-view.ts';

/** What a panel can show besides a table. No table has such a name. */
export const CHARTS = '~charts';
export const OPERATOR = '~operator';

/** What one link opens: a table as somebody looks at it, and the row that is chosen; or the charts, or the operator's panel. */
export interface Destination {
  readonly shows: string;
  readonly view: PanelView;
  readonly row: string | null;
}

export function isTable(shows: string): boolean {
  return !shows.startsWith('~');
}

export function destinationOf(shows: string, view: PanelView = PLAIN, row: string | null = null): Destination {
  return { shows, view, row };
}

/** The fragment of a link to this destination, without its `#`. */
export function fragmentOf({ shows, view, row }: Destination): string {
  if (!isTable(shows)) return `panel=${shows.slice(1)}`;
  const fields = new URLSearchParams({ table: shows });
  if (!isPlain(view)) {
    if (view.sort.length > 0) fields.set('sort', sortText(view.sort));
    if (view.filter !== null) fields.set('filter', JSON.stringify(view.filter));
    if (view.search !== '') fields.set('search', view.search);
  }
  if (row !== null) fields.set('row', row);
  // People read and type them, and both may stand in a fragment as they are.
  return fields.toString().replaceAll('%3A', ':').replaceAll('%2C', ',');
}

/** The destination that a fragment leads to; null where it leads nowhere special. */
export function readDestination(fragment: string): Destination | null {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const special = [CHARTS, OPERATOR].find((shows) => shows.slice(1) === fields.get('panel'));
  if (special !== undefined) return destinationOf(special);
  const table = fields.get('table') ?? '';
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(table)) return null;
  const view = {
    sort: readSort(fields.get('sort') ?? ''),
    filter: readFilter(fields.get('filter') ?? ''),
    search: fields.get('search') ?? '',
  };
  return destinationOf(table, view, fields.get('row'));
}
