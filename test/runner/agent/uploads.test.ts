import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Forwarder } from '#runner/agent/forwarder.ts';
import { performRequest } from '#runner/agent/perform.ts';

/** Uploads of a forwarding agent go to the platform's storage only. */

const servers: Server[] = [];
let forge: { url: string; calls: string[] };
let storage: { url: string; calls: string[] };
let elsewhere: { url: string; calls: string[] };

const start = async () => {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    request.resume().on('end', () => response.end('private code'));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
};

beforeEach(async () => {
  [forge, storage, elsewhere] = [await start(), await start(), await start()];
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const fetchTo = (uploadUrl: string) =>
  performRequest(
    { method: 'GET', url: `${forge.url}/archive`, headers: {}, totalMs: 10_000, maxBytes: 1_000_000, uploadUrl },
    { origins: [forge.url], storage: storage.url },
  );

it('an agent uploads to the storage of its platform', async () => {
  expect(await fetchTo(`${storage.url}/bucket/uploads/x?X-Amz-Signature=1`)).toMatchObject({ status: 200 });
  expect(storage.calls).toEqual(['PUT /bucket/uploads/x?X-Amz-Signature=1']);
});

it('an agent fetches nothing if the upload would go elsewhere', async () => {
  const other = [`${elsewhere.url}/x`, `${storage.url.replace('127.0.0.1', 'localhost')}/x`, 'no url'];
  for (const uploadUrl of other) {
    expect(await fetchTo(uploadUrl)).toMatchObject({ failure: 'forbidden', message: expect.stringContaining('only') });
  }
  expect([...forge.calls, ...elsewhere.calls, ...storage.calls]).toEqual([]);
});

describe('a forwarding agent', () => {
  const registers = async (address: string, named: string): Promise<unknown> => {
    const lines: string[] = [];
    const forwarder: Forwarder = new Forwarder({
      client: {
        register: async () => ({ agent: 'a', pool: 'p', organization: 'o', pingSeconds: 60, storage: named }),
        request: async () => {
          forwarder.stop();
          return { action: 'wait', afterMs: 1 };
        },
        answer: async () => ({}),
        ping: async () => ({}),
      },
      name: 'f',
      address,
      origins: [forge.url],
      say: (line) => lines.push(line),
    });
    await forwarder.run();
    return lines[0];
  };
  const s3 = 'https://bucket.s3.eu-central-1.amazonaws.com';

  it.each([
    ['https://stepform.example.com', s3],
    ['https://stepform.example.com', 'https://stepform.example.com:9000'],
    ['http://localhost:8080', 'http://127.0.0.1:4566'],
  ])('of %s accepts the storage %s, and names it', async (address, named) => {
    expect(await registers(address, named)).toContain(`uploads to ${named}`);
  });

  it.each([
    'https://evil.example',
    'http://bucket.s3.eu-central-1.amazonaws.com',
    'https://bucket.s3.eu-central-1.amazonaws.com.evil.example',
    'http://stepform.example.com:9000',
    'http://127.0.0.1:4566',
    'http://169.254.169.254',
    '',
  ])('rejects a platform whose storage is %s', async (named) => {
    await expect(registers('https://stepform.example.com', named)).rejects.toThrow('neither on Amazon S3');
  });
});
