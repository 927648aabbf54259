import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A test double of Vault's HTTP API for clients of the JWT auth method; records its requests. */
export class VaultServer {
  readonly calls: { method: string; path: string; namespace?: string; token?: string; body: Record<string, string> }[] =
    [];
  /** Token of the next login. */
  token = 'hvs.canary-of-vault';
  leaseSeconds = 1200;
  /** Issued credentials, by path. */
  readonly secrets: Record<string, Record<string, string>> = {};
  refusal: { status: number; errors: string[] } | undefined;
  readonly #server: Server;
  readonly #scheme: string;

  private constructor(server: Server, scheme: string) {
    this.#server = server;
    this.#scheme = scheme;
  }

  /** @param tls certificate for HTTPS */
  static async start(tls?: { key: string; cert: string }): Promise<VaultServer> {
    const server = tls ? createSecureServer(tls) : createServer();
    const vault = new VaultServer(server, tls ? 'https://localhost' : 'http://127.0.0.1');
    server.on('request', async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const { headers, url = '' } = request;
      vault.calls.push({
        method: request.method ?? '',
        path: url,
        namespace: headers['x-vault-namespace'] as string | undefined,
        token: headers['x-vault-token'] as string | undefined,
        body: JSON.parse(Buffer.concat(parts).toString() || '{}'),
      });
      if (url.endsWith('/revoke-self')) return response.writeHead(204).end();
      const { refusal, token, leaseSeconds } = vault;
      if (refusal) return response.writeHead(refusal.status).end(JSON.stringify({ errors: refusal.errors }));
      const data = vault.secrets[url.replace('/v1/', '')];
      if (data) return response.writeHead(200).end(JSON.stringify({ data }));
      const auth = { client_token: token, lease_duration: leaseSeconds, renewable: true };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ auth }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return vault;
  }

  get address(): string {
    return `${this.#scheme}:${(this.#server.address() as AddressInfo).port}`;
  }

  paths(): string[] {
    return this.calls.map(({ path }) => path);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
