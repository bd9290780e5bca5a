/** What went wrong, in the shape that the server uses: facts in the message, the remedy in the hint. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

/** A problem as an exception: a step that cannot be taken, or an answer that cannot be used. */
export class TablecastError extends Error implements Problem {
  override readonly name = 'TablecastError';
  readonly code: string;
  readonly hint: string | null;

  constructor(code: string, message: string, hint: string | null = null) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

export function problem(code: string, message: string, hint: string | null = null): Problem {
  return { code, message, hint };
}

/** The problem that an exception stands for, whoever threw it. */
export function problemOf(error: unknown): Problem {
  if (error instanceof TablecastError) return problem(error.code, error.message, error.hint);
  return problem('unexpected', error instanceof Error ? error.message : String(error));
}

export function sameProblem(left: Problem | null, right: Problem | null): boolean {
  if (left === null || right === null) return left === right;
  return left.code === right.code && left.message === right.message && left.hint === right.hint;
}
