import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { SignInSettings } from '#platform/environment.ts';
import { clientSecret, forgetClientSecret } from '#resources/sign-in/settings.ts';

/** The client's secret in Parameter Store. */

let server: Server;
let requests: { target: string | undefined; input: unknown }[];
let value: string;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const input = JSON.parse(Buffer.concat(parts).toString());
    requests.push({ target: request.headers['x-amz-target'] as string, input });
    if (value) return response.writeHead(200).end(JSON.stringify({ Parameter: { Name: input.Name, Value: value } }));
    response.writeHead(400).end('{"__type":"ParameterNotFound"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_SSM: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
});
afterAll(() => {
  vi.useRealTimers();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  forgetClientSecret();
  requests = [];
  value = 'first\n';
});

const settings = { clientSecretParameter: '/stepform/secret' } as SignInSettings;

it('sign-in reads the client secret decrypted, caches it, and reads it again after a while', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  expect(await clientSecret(settings)).toBe('first');
  expect(requests).toEqual([
    { target: 'AmazonSSM.GetParameter', input: { Name: '/stepform/secret', WithDecryption: true } },
  ]);
  value = 'second';
  expect(await clientSecret(settings)).toBe('first');
  vi.setSystemTime(Date.now() + 5 * 60_000 + 1);
  expect(await clientSecret(settings)).toBe('second');
  value = 'third';
  forgetClientSecret();
  expect(await clientSecret(settings)).toBe('third');
});

it('sign-in fails when the configured client secret is missing', async () => {
  value = '';
  await expect(clientSecret(settings)).rejects.toThrow('ParameterNotFound');
  expect(await clientSecret({} as SignInSettings)).toBeUndefined();
});
