/** What a socket tells: the fields of the browser's events that are used here. */
export interface SocketEvent {
  readonly type: string;
  readonly data?: unknown;
  readonly code?: number;
}

/** The part of a WebSocket that is used here. */
export interface Socket {
  /** 1 while it takes messages, as in the browser. */
  readonly readyState: number;
  send(text: string): void;
  close(code?: number): void;
  addEventListener(type: string, listener: (event: SocketEvent) => void): void;
  removeEventListener(type: string, listener: (event: SocketEvent) => void): void;
}

export type SocketClass = new (url: string, protocol: string) => Socket;

/** Everything that the client takes from the world around it, so that a test can script it. */
export interface Environment {
  readonly WebSocket: SocketClass;
  /** Runs `task` once after `ms`; the returned function cancels it. */
  readonly after: (ms: number, task: () => void) => () => void;
  readonly now: () => number;
  readonly random: () => number;
  /** Calls `wake` when the network or the tab comes back; the returned function ends that. */
  readonly onWake: (wake: () => void) => () => void;
  /** Calls `away` when the network goes; the returned function ends that. */
  readonly onAway: (away: () => void) => () => void;
}

/** The browser, or Node. */
export function hostEnvironment(): Environment {
  return { WebSocket, after, now: Date.now, random: Math.random, onWake, onAway };
}

function after(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  return () => {
    clearTimeout(timer);
  };
}

function onWake(wake: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined;
  const whenVisible = (): void => {
    if (document.visibilityState === 'visible') wake();
  };
  addEventListener('online', wake);
  document.addEventListener('visibilitychange', whenVisible);
  return () => {
    removeEventListener('online', wake);
    document.removeEventListener('visibilitychange', whenVisible);
  };
}

function onAway(away: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined;
  addEventListener('offline', away);
  return () => {
    removeEventListener('offline', away);
  };
}
