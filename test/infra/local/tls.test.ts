import { statSync } from 'node:fs';
import { readFile, truncate } from 'node:fs/promises';
import { createServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { keepTls } from '#infra/local/host/tls.ts';
import { temporaryFolder } from './support/functions.ts';

describe('the local certificate', () => {
  it('is trusted only through the CA file, for every loopback name', async () => {
    const tls = await keepTls(temporaryFolder());
    const server = createServer(tls, (_, response) => response.end('hi'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const ca = await readFile(tls.caFile, 'utf8');
    const ask = (servername: string, options: object) =>
      new Promise<string>((resolve, reject) => {
        get({ host: '127.0.0.1', port, servername, agent: false, ...options }, (response) => {
          response.resume();
          resolve(`${response.statusCode}`);
        }).once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? reject(error) ?? ''));
      });
    expect(await ask('localhost', { ca })).toBe('200');
    // Without a server name the address itself is checked.
    expect(await ask('', { ca })).toBe('200');
    expect(await ask('example.org', { ca })).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(await ask('localhost', {})).toMatch(/SELF_SIGNED|UNABLE_TO/);
    await new Promise((resolve) => server.close(resolve));
  });

  it.each(['ca.pem', 'server.pem', 'server-key.pem'])('names %s when it is empty, and the remedy', async (name) => {
    const folder = temporaryFolder();
    await keepTls(folder);
    await truncate(`${folder}/${name}`);
    await expect(keepTls(folder)).rejects.toThrow(new RegExp(`${name} is damaged .*Delete the folder ${folder}`));
  });

  it('persists across restarts with a private key', async () => {
    const folder = temporaryFolder();
    const first = await keepTls(folder);
    expect(await keepTls(folder)).toEqual(first);
    expect(statSync(`${folder}/server-key.pem`).mode & 0o777).toBe(0o600);
  });
});
