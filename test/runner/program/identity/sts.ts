import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const expiration = '2099-01-01T00:00:00Z';

/**
 * A test double of AWS STS for the exchange of a web identity; records its requests (STS API reference:
 * AssumeRoleWithWebIdentity).
 */
export class StsServer {
  readonly asked: Record<string, string>[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<StsServer> {
    const server = createServer();
    const sts = new StsServer(server);
    server.on('request', async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      sts.asked.push(Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString())));
      response.writeHead(200, { 'content-type': 'text/xml' });
      response.end(
        '<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">' +
          '<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAFROMSTS</AccessKeyId>' +
          `<SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken><Expiration>${expiration}</Expiration>` +
          '</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>',
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return sts;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
