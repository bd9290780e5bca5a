import type { ConnectionPhase } from '../src/connection-state.ts';
import { TableHub } from '../src/hub.ts';
import { FakeWorld } from './fake-world.ts';

/** A hub in a world of its own, and the phases that its connection goes through. */
export function watchedHub(): { readonly world: FakeWorld; readonly hub: TableHub; readonly phases: ConnectionPhase[] } {
  const world = new FakeWorld();
  const hub = new TableHub({ url: 'http://localhost:10000', key: 'sesame' }, world.environment);
  const phases: ConnectionPhase[] = [];
  hub.connection.watch((state) => phases.push(state.phase));
  return { world, hub, phases };
}
