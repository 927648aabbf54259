import type { AddressInfo } from 'node:net';
import { send } from '../transport/http.ts';
import { loadModules } from './runner.ts';

/** For a process that waits for a task: loads what it will need, and makes what Node otherwise makes at the first request. */
export const warmUp = async (): Promise<void> => {
  await Promise.all([loadModules(), callItself()]);
};

const response = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}';

/** Node's HTTP client takes 8 ms for its first request, and 1 ms for another. */
const callItself = async (): Promise<void> => {
  const { createServer } = process.getBuiltinModule('node:net');
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(response));
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    await send(`http://127.0.0.1:${port}/`, { method: 'POST', body: Buffer.from('{}') });
  } catch {
    // The first request is slower then.
  } finally {
    server.close();
  }
};
