/** What stands beside the rows. One at a time. */
export type GridPanel =
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'columns' | 'row' | 'export' };

export function panelTitle(panel: GridPanel): string {
  switch (panel.kind) {
    case 'column': return panel.column;
    case 'columns': return 'Columns';
    case 'row': return 'Row';
    case 'export': return 'Export';
  }
}
