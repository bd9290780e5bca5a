import { CHARTS, OPERATOR } from './destination.ts';

const CAPTIONS: Readonly<Record<string, string>> = {
  [CHARTS]: 'what changes, and how fast',
  [OPERATOR]: 'swap topics and joins',
  users_ui: 'every users record',
  account: 'every accounts record',
  accounts_ui: 'last account of each user',
  final_ui: 'users × accounts',
  user_account: 'users × accounts, as of then',
  dead_letters: 'records that no table shows',
  control_raw: 'control messages and verdicts',
  orchestrator_status: 'what is live',
};

/** What people call it: the name of a table is its own. */
export function titleOf(shows: string): string {
  if (shows === CHARTS) return 'Charts';
  return shows === OPERATOR ? 'Operator' : shows;
}

/** A few words for what everybody has; nothing for the tables of one's own catalogue. */
export function captionOf(shows: string): string {
  return CAPTIONS[shows] ?? '';
}
