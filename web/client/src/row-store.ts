import type { Column } from './cell.ts';
import { decodeCell } from './cell.ts';
import { TablecastError } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { FrameMessage, OpenedMessage } from './server-message.ts';
import type { Row, Snapshot } from './snapshot.ts';

/**
 * Applies the frames of one subscription, in order, to the rows of its window. A frame that is older than what is known is
 * dropped; one that does not fit what is known throws `bad_frame`, and the store is then to be restarted.
 */
export class RowStore {
  #columns: readonly Column[] = [];
  #announced: OpenedMessage | null = null;
  #rows = new Map<string, Row>();
  #snapshot: Snapshot | null = null;
  #request = 0;
  #answered: number | null = null;

  get snapshot(): Snapshot | null {
    return this.#snapshot;
  }

  /** Frames come from a new connection: the rows stay until its first frame, whatever that frame's generation is. */
  restart(): void {
    this.#announced = null;
    this.#request = 0;
    this.#answered = null;
  }

  /** Frames that answer an older request are dropped from now on. */
  expect(request: number): void {
    this.#request = request;
  }

  /** The columns take effect with the first frame of their generation, so that rows and columns change together. */
  announce(opened: OpenedMessage): void {
    this.#announced = opened;
  }

  /** Whether the frame was taken. */
  apply(frame: FrameMessage): boolean {
    if (this.#isLate(frame)) return false;
    const whole = this.#mustBeWhole(frame);
    if (whole && frame.ids === undefined) throw badFrame(frame, 'it has no ids, though it is the first of its kind');
    const columns = this.#adoptColumns(frame);
    const rows = this.#rowsOf(frame, columns, whole ? new Map<string, Row>() : this.#rows);
    this.#rows = new Map(rows.map((row) => [row.id, row]));
    this.#columns = columns;
    this.#answered = frame.request;
    const { generation, revision, total, offset } = frame;
    this.#snapshot = { generation, revision, columns, total, offset, rows };
    return true;
  }

  #isLate(frame: FrameMessage): boolean {
    if (frame.request < this.#request) return true;
    if (this.#answered === null || this.#snapshot === null) return false;
    return frame.generation < this.#snapshot.generation || frame.revision <= this.#snapshot.revision;
  }

  /** Frames between two requests may have been dropped, so rows from before the request are not built upon. */
  #mustBeWhole(frame: FrameMessage): boolean {
    return frame.request !== this.#answered || frame.generation !== this.#snapshot?.generation;
  }

  #adoptColumns(frame: FrameMessage): readonly Column[] {
    if (this.#announced === null || this.#announced.generation > frame.generation) return this.#columns;
    const columns = this.#announced.columns;
    this.#announced = null;
    return columns;
  }

  #rowsOf(frame: FrameMessage, columns: readonly Column[], known: ReadonlyMap<string, Row>): readonly Row[] {
    const changed = new Map(Object.entries(frame.rows));
    return (frame.ids ?? this.#order()).map((id) => {
      const raw = changed.get(id);
      const row = raw === undefined ? known.get(id) : decodeRow(id, raw, columns);
      if (row === undefined) throw badFrame(frame, `it names the row '${id}', which was never sent`);
      return row;
    });
  }

  #order(): readonly string[] {
    return this.#snapshot?.rows.map((row) => row.id) ?? [];
  }
}

function decodeRow(id: string, raw: JsonObject, columns: readonly Column[]): Row {
  return { id, cells: columns.map(({ name, type }) => decodeCell(type, Object.hasOwn(raw, name) ? raw[name] : null)) };
}

function badFrame(frame: FrameMessage, fact: string): TablecastError {
  return new TablecastError(
    'bad_frame',
    `Frame ${String(frame.revision)} of subscription ${String(frame.sub)} does not fit: ${fact}.`,
    'The page asks for the rows again by itself.',
  );
}
