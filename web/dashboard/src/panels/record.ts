/** The rows of our own topics: no swap changes these. */
const OURS = ['control_raw', 'orchestrator_status'];
const PLACE = /^\d+-\d+$/;
/** Before the place is the name of the source. */
const PLACES: Readonly<Record<string, RegExp>> = { dead_letters: /-\d+-\d+$/ };

/**
 * Whether a row is named by its place in a source topic. Where another topic takes that one's place, another record has that name;
 * a row that is named by its key stays the same one.
 */
export function isNamedByPlace(table: string, row: string): boolean {
  return !OURS.includes(table) && (PLACES[table] ?? PLACE).test(row);
}
