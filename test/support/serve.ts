import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeAfterFile } from './undo.ts';

export interface Serving {
  /** Without a trailing slash. */
  url: string;
  close(): Promise<void>;
}

/** Serves HTTP on a free port of this machine, until it is closed or the test file ends. */
export const serve = async (listener: RequestListener): Promise<Serving> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: closeAfterFile(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }),
  };
};
