import type { Access } from './access.ts';
import { ask } from './ask.ts';
import { isObject, parsed } from './json.ts';

/** How far the fill of a generation has come: records done, of how many. */
export interface Progress {
  readonly generation: number;
  readonly done: number;
  readonly of: number;
}

/** Asks the server how far the generation in the making has come. Null where none is being filled, or it does not tell. */
export async function readProgress(access: Access, signal: AbortSignal | null = null): Promise<Progress | null> {
  const response = await ask(access, '/api/status', signal);
  const body = parsed(await response.text());
  const generations = isObject(body) && Array.isArray(body['generations']) ? body['generations'] : [];
  for (const generation of generations.toReversed()) {
    if (!isObject(generation) || !isObject(generation['progress'])) continue;
    const { done, of } = generation['progress'];
    if (typeof done === 'number' && typeof of === 'number') return { generation: Number(generation['generation']), done, of };
  }
  return null;
}
