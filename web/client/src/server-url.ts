import { TablecastError } from './errors.ts';

const EXAMPLE = 'Give the address of a table server, for example http://localhost:10000.';

/** The address of the server's WebSocket, from any way of writing the server's address. */
export function socketUrl(address: string): string {
  return `${base(address).replace(/^http/, 'ws')}/ws`;
}

/** The address of a path of the server's HTTP interface. */
export function apiUrl(address: string, path: string): string {
  return `${base(address)}${path}`;
}

/** `http(s)://host[:port][/prefix]`: no trailing slash, query or fragment. */
function base(address: string): string {
  const url = parse(address.trim());
  const path = url.pathname.replace(/\/+$/, '').replace(/\/ws$/, '').replace(/\/+$/, '');
  return `${url.protocol.replace(/^ws/, 'http')}//${url.host}${path}`;
}

function parse(address: string): URL {
  if (address === '') throw new TablecastError('missing_url', 'There is no server URL.', EXAMPLE);
  const absolute = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `http://${address}`;
  const url = URL.parse(absolute);
  if (url === null || !/^(https?|wss?):$/.test(url.protocol)) {
    throw new TablecastError('bad_url', `'${address}' is not the address of a table server.`, EXAMPLE);
  }
  return url;
}
