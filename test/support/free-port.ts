import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const canListen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/**
 * A port outside the range from which systems assign ports: other tests start servers before the one for this port
 * listens.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    if (await canListen(port)) return port;
  }
};
