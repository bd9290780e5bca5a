/** Shows a live table in the terminal, once the client is built (npm run build): node web/client/examples/watch.ts URL KEY TABLE */
import { TableHub } from '@tablecast/client';

const [url = '', key = '', table = 'users_ui'] = process.argv.slice(2);

const hub = new TableHub({ url, key });
hub.connection.watch(({ phase, problem }) => {
  console.log(`[${phase}]`, problem?.message ?? '', problem?.hint ?? '');
  if (phase === 'refused') process.exitCode = 1;
});

const live = hub.open({ table });
live.watch(({ snapshot, problem }) => {
  if (problem !== null) console.log(problem.message, problem.hint ?? '');
  if (snapshot === null) return;
  const { generation, revision, offset, total, columns, rows } = snapshot;
  const end = offset + rows.length;
  console.log(`\n${table} generation ${generation} revision ${revision}: rows ${Math.min(offset + 1, end)}-${end} of ${total}`);
  console.table(
    rows.slice(0, 10).map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row.cells[index]]))),
  );
});

process.once('SIGINT', () => void hub.close());
