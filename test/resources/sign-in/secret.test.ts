import { beforeEach, expect, it, vi } from 'vitest';
import type { OidcSettings } from '#platform/environment.ts';
import { clientSecret, forgetClientSecret } from '#resources/sign-in/oidc/settings.ts';
import { serve } from '#test/support/serve.ts';

/** The client's secret in Parameter Store. */

let requests: { target: string | undefined; input: unknown }[];
let value: string;

const server = await serve(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  const input = JSON.parse(Buffer.concat(parts).toString());
  requests.push({ target: request.headers['x-amz-target'] as string, input });
  if (value) return response.writeHead(200).end(JSON.stringify({ Parameter: { Name: input.Name, Value: value } }));
  response.writeHead(400).end('{"__type":"ParameterNotFound"}');
});
Object.assign(process.env, {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_ENDPOINT_URL_SSM: server.url,
});
beforeEach(() => {
  forgetClientSecret();
  requests = [];
  value = 'first\n';
});

const settings = { clientSecretParameter: '/stepform/secret' } as OidcSettings;

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
  expect(await clientSecret({} as OidcSettings)).toBeUndefined();
});
