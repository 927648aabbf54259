import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Proxy between the platform and a forge: records requests, and rejects those that a test chooses. */
export class ForgeProxy {
  readonly url: string;
  /** Method and path. */
  asked: string[] = [];
  /** Status for requests that are not passed on. */
  refuse: (path: string) => number | undefined = () => undefined;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string): Promise<ForgeProxy> {
    const server = createServer((incoming, answer) => {
      const path = incoming.url?.split('?')[0] ?? '';
      proxy.asked.push(`${incoming.method} ${path}`);
      const refused = proxy.refuse(path);
      if (refused) return void answer.writeHead(refused, { 'content-type': 'application/json' }).end('{}');
      const { method, headers } = incoming;
      const outgoing = request(`${target}${incoming.url}`, { method, headers }, (response) => {
        answer.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(answer);
      });
      outgoing.on('error', () => answer.destroy());
      incoming.pipe(outgoing);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new ForgeProxy(server);
    return proxy;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
