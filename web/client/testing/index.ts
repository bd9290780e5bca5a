export { FakeSocket } from './fake-socket.ts';
export { FakeWorld } from './fake-world.ts';
export { watchedHub } from './watched-hub.ts';
export { errorMessage, feed, frame, opened, welcome } from './server-says.ts';
