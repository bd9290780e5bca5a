import type { Environment } from '../src/index.ts';
import { FakeSocket } from './fake-socket.ts';

interface FakeTimer {
  readonly at: number;
  readonly task: () => void;
}

/** A world whose clock, dice, sockets and wake-ups are in the test's hands. */
export class FakeWorld {
  readonly sockets: FakeSocket[] = [];
  readonly timers = new Set<FakeTimer>();
  readonly wakers = new Set<() => void>();
  readonly aways = new Set<() => void>();
  dice = 1;
  /** Sockets cannot even be made, as where a page may not open an insecure one. */
  forbidden = false;
  #now = 0;
  #shift = 0;

  readonly environment: Environment = {
    WebSocket: this.#socketClass(),
    after: (ms, task) => this.after(ms, task),
    now: () => this.#now + this.#shift,
    random: () => this.dice,
    onWake: (wake) => {
      this.wakers.add(wake);
      return () => this.wakers.delete(wake);
    },
    onAway: (away) => {
      this.aways.add(away);
      return () => this.aways.delete(away);
    },
  };

  /** The socket that was made last. */
  get socket(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error('No socket was made yet.');
    return socket;
  }

  after(ms: number, task: () => void): () => void {
    const timer = { at: this.#now + ms, task };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  /** Lets time pass, and every timer that is due meanwhile run in its turn. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let timer = this.#due(end); timer !== undefined; timer = this.#due(end)) {
      this.#now = Math.max(this.#now, timer.at);
      this.timers.delete(timer);
      timer.task();
    }
    this.#now = end;
  }

  /** The clock jumps and no timer runs: the machine slept, or somebody set its clock. */
  jump(ms: number): void {
    this.#shift += ms;
  }

  wake(): void {
    for (const wake of [...this.wakers]) wake();
  }

  /** The network goes; what the sockets do then is up to the test. */
  goAway(): void {
    for (const away of [...this.aways]) away();
  }

  #due(end: number): FakeTimer | undefined {
    return [...this.timers].filter((timer) => timer.at <= end).sort((left, right) => left.at - right.at)[0];
  }

  #socketClass(): Environment['WebSocket'] {
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- `this` of the class below is the socket
    const world = this;
    return class extends FakeSocket {
      constructor(url: string, protocol: string) {
        if (world.forbidden) throw new Error('An insecure socket may not be opened from a secure page.');
        super(url, protocol, (task) => world.after(0, task));
        world.sockets.push(this);
      }
    };
  }
}
