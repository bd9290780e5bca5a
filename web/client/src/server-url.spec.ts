import { describe, expect, it } from 'vitest';
import { apiUrl, socketUrl } from './server-url.ts';

describe('the address of the socket', () => {
  it.each([
    ['http://localhost:10000', 'ws://localhost:10000/ws'],
    ['http://localhost:10000///', 'ws://localhost:10000/ws'],
    ['https://tables.example/', 'wss://tables.example/ws'],
    ['https://example.org/tables/', 'wss://example.org/tables/ws'],
    ['ws://localhost:10000/ws', 'ws://localhost:10000/ws'],
    ['wss://tables.example/ws/', 'wss://tables.example/ws'],
    ['  localhost:10000 ', 'ws://localhost:10000/ws'],
    ['HTTP://Localhost:10000/?a=b#c', 'ws://localhost:10000/ws'],
  ])('of %j is %s', (address, url) => {
    expect(socketUrl(address)).toBe(url);
  });
});

it('finds the HTTP interface from a WebSocket address too', () => {
  expect(apiUrl('wss://tables.example/ws', '/api/tables')).toBe('https://tables.example/api/tables');
});

it.each(['', '   '])('says at once that %j is no address', (address) => {
  expect(() => socketUrl(address)).toThrow('There is no server URL.');
});

it.each(['ftp://example.org', 'http://', 'http://:x'])('says at once that %j cannot be used', (address) => {
  expect(() => socketUrl(address)).toThrow(`'${address}' is not the address of a table server.`);
});
