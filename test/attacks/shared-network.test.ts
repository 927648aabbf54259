import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { printed } from './in-room.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';

/** Runs of one machine share its network: the page on security documents it. */

const listen = async (where: string | number): Promise<Server> => {
  const server = createServer((socket) => socket.on('error', () => {}).end('reached'));
  await new Promise<void>((resolve) => server.listen(where, resolve));
  onTestFinished(() => void server.close());
  return server;
};

it.runIf(separatesUsers)(
  `a run reaches loopback ports and abstract sockets of its machine, as documented, and no socket in a temporary folder${notSeparated}`,
  async () => {
    const tcp = await listen(0);
    const abstract = `stepform-network-${process.pid}`;
    await listen(`\0${abstract}`);
    const path = `/tmp/stepform-network-${process.pid}`;
    await listen(path);
    const connect = (what: string, socket: string) =>
      `import socket; s = socket.socket(${what}); s.connect(${socket}); print(s.recv(7).decode())`;
    const { port } = tcp.address() as { port: number };
    const log = await printed(
      [
        connect('socket.AF_INET', `("127.0.0.1", ${port})`),
        connect('socket.AF_UNIX', `"\\0${abstract}"`),
        connect('socket.AF_UNIX', `"${path}"`),
      ]
        .map((script) => `python3 -c '${script}' 2>&1 | tail -1`)
        .join('\n'),
    );
    expect(existsSync(path)).toBe(true);
    expect(log).toMatch(/^reached\nreached\nFileNotFoundError: /);
  },
);
