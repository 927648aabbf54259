import { type AddressInfo, connect, createServer, type Server } from 'node:net';

/** Other programs that take the ports of a stopped platform. */
export const takePorts = async (urls: string[]): Promise<{ release(): void }> => {
  const servers = await Promise.all(urls.map((url) => take(Number(new URL(url).port))));
  return {
    release: () => {
      for (const server of servers) server.close();
    },
  };
};

const take = (port: number): Promise<Server> => {
  // They never respond.
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) =>
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server)),
  );
};

/** A stable address for clients that read it once: connections go to the current value of `url`. */
export const startRelay = async (url: () => string): Promise<{ url: string; close(): void }> => {
  const server = createServer((socket) => {
    const onward = connect(Number(new URL(url()).port), '127.0.0.1');
    const end = () => {
      socket.destroy();
      onward.destroy();
    };
    for (const one of [socket, onward]) one.on('error', end).on('close', end);
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
};
