import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const canListen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** One of those that no system gives to whoever asks for any: until the server that is to have it listens, other tests start theirs. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    if (await canListen(port)) return port;
  }
};
