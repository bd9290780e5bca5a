import type { Shape, View, Viewport } from './view.ts';
import { shapeFields } from './view.ts';

export const PROTOCOL = 'tablecast.v1';

export interface LoginMessage {
  readonly type: 'login';
  readonly key: string;
}

export interface OpenMessage extends Shape, Viewport {
  readonly type: 'open';
  readonly sub: number;
  readonly request: number;
  readonly table: string;
  readonly ahead?: number;
}

export interface MoveMessage extends Viewport {
  readonly type: 'move';
  readonly sub: number;
  readonly request: number;
}

export interface ShapeMessage extends Shape, Viewport {
  readonly type: 'shape';
  readonly sub: number;
  readonly request: number;
}

export interface CloseMessage {
  readonly type: 'close';
  readonly sub: number;
}

export interface FindMessage {
  readonly type: 'find';
  readonly sub: number;
  readonly row: string;
}

export interface TookMessage {
  readonly type: 'took';
  readonly sub: number;
  readonly revision: number;
}

export interface PingMessage {
  readonly type: 'ping';
  readonly id: number;
}

export type ViewerMessage = LoginMessage | OpenMessage | MoveMessage | ShapeMessage | CloseMessage | FindMessage | TookMessage | PingMessage;

export function login(key: string): LoginMessage {
  return { type: 'login', key };
}

/** `ahead`: how many frames are sent before each is taken; 0 for as many as the socket takes. */
export function open(sub: number, request: number, view: View, { offset, size }: Viewport, ahead = 0): OpenMessage {
  return { type: 'open', sub, request, table: view.table, offset, size, ...shapeFields(view), ...(ahead === 0 ? {} : { ahead }) };
}

export function move(sub: number, request: number, { offset, size }: Viewport): MoveMessage {
  return { type: 'move', sub, request, offset, size };
}

export function shape(sub: number, request: number, to: Shape, { offset, size }: Viewport): ShapeMessage {
  return { type: 'shape', sub, request, offset, size, ...shapeFields(to) };
}

export function close(sub: number): CloseMessage {
  return { type: 'close', sub };
}

export function find(sub: number, row: string): FindMessage {
  return { type: 'find', sub, row };
}

export function took(sub: number, revision: number): TookMessage {
  return { type: 'took', sub, revision };
}

export function ping(id: number): PingMessage {
  return { type: 'ping', id };
}

export function encode(message: ViewerMessage): string {
  return JSON.stringify(message);
}
