import type { Snapshot } from '@tablecast/client';

/** One row of `control_raw`: a control message and what became of it. */
export interface ControlRow {
  readonly id: string;
  readonly received: string;
  readonly asked: string;
  readonly dryRun: boolean;
  readonly verdict: string;
  readonly reason: string | null;
  readonly generation: string | null;
}

const WORDS: Readonly<Record<string, string>> = {
  pending: 'pending',
  applied: 'applied',
  no_change: 'no change',
  superseded: 'superseded',
  rejected: 'refused',
  would_apply: 'would apply',
};

export function verdictWord(verdict: string): string {
  return WORDS[verdict] ?? verdict;
}

/** What the operator is told of the message that was sent last, behind the word of its verdict. */
export function verdictSentence({ verdict, reason, generation, dryRun }: ControlRow): string {
  if (verdict === 'pending') return dryRun ? 'The dry run is being looked at.' : 'It is being looked at.';
  if (verdict === 'applied') return `as generation ${generation ?? '?'}.`;
  return reason === null ? '' : `${reason.replace(/\.$/, '')}.`;
}

export function controlRows(snapshot: Snapshot | null): readonly ControlRow[] {
  if (snapshot === null) return [];
  const names = snapshot.columns.map(({ name }) => name);
  return snapshot.rows.map(({ id, cells }) => {
    const text = (name: string): string | null => {
      const cell = cells[names.indexOf(name)] ?? null;
      return cell === null ? null : String(cell);
    };
    const message = readMessage(text('text') ?? '');
    return {
      id,
      received: text('received') ?? '',
      asked: message.asked,
      dryRun: message.dryRun,
      verdict: text('verdict') ?? '',
      reason: text('reason'),
      generation: text('generation'),
    };
  });
}

/** `users_v2 · accounts_v2 · inner`; what is no message is shown as it came. */
function readMessage(text: string): { asked: string; dryRun: boolean } {
  try {
    const fields = Object.entries(JSON.parse(text) as Record<string, unknown>).filter(([, value]) => typeof value === 'string');
    const topics = fields.filter(([name]) => /topic$/i.test(name.trim())).map(([, value]) => value);
    const join = fields.filter(([name]) => /^jointype$/i.test(name.trim())).map(([, value]) => value);
    const asked = [...topics, ...join].join(' · ');
    return { asked: asked === '' ? text : asked, dryRun: /"dryrun"\s*:\s*"?\s*true/i.test(text) };
  } catch {
    return { asked: text, dryRun: false };
  }
}
