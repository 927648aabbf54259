import { request as httpRequest } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { type Platform, startPlatform } from '#infra/local/commands/platform.ts';
import { readFront } from '#infra/local/host/front.ts';
import { temporaryFolder } from './support/functions.ts';

/** Clients on other machines: requests as a proxy passes them on. */

const environment = {
  STEPFORM_PUBLIC_URL: 'https://stepform.example.com',
  STEPFORM_STORAGE_URL: 'https://files.stepform.example.com',
};
const platform: Platform = await startPlatform({
  dataDir: temporaryFolder(),
  port: 0,
  httpsPort: 0,
  environmentsPort: 0,
  front: readFront(environment),
});
afterAll(() => platform.close());
const { local } = platform;
const port = Number(new URL(local.url).port);

interface Answer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
}

/** `fetch` sets the host itself. */
const send = (
  url: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: object; body?: string | Buffer } = {},
) =>
  new Promise<Answer>((resolve, reject) => {
    const { host, pathname, search } = new URL(url);
    const options = { host: '127.0.0.1', port, path: pathname + search, method, headers: { ...headers, host } };
    const sent = httpRequest(options, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString('utf8');
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
    sent.on('error', reject).end(body);
  });
const publicUrl = environment.STEPFORM_PUBLIC_URL;
const storageUrl = environment.STEPFORM_STORAGE_URL;
const api = async (path: string, attributes?: object, origin = publicUrl) => {
  const type = path.split('/').at(-1);
  const answer = await send(`${origin}/api/v2${path}`, {
    method: attributes ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${local.token}`, 'content-type': 'application/vnd.api+json' },
    body: attributes && JSON.stringify({ data: { type, attributes } }),
  });
  return JSON.parse(answer.text).data;
};

const workspace = await api('/organizations/local/workspaces', { name: 'remote' });
const newUpload = async (origin?: string): Promise<string> =>
  (await api(`/workspaces/${workspace.id}/configuration-versions`, { 'auto-queue-runs': false }, origin)).attributes[
    'upload-url'
  ];

describe('storage behind a proxy', () => {
  it('is named by its own address to clients of the public URL, and by loopback to clients on this machine', async () => {
    expect(await newUpload()).toMatch(/^https:\/\/files\.stepform\.example\.com\//);
    expect(await newUpload(local.url)).toMatch(new RegExp(`^${local.awsEndpointUrl}/`));
    const page = await send(`${publicUrl}/app`);
    expect(page.headers['content-security-policy']).toContain(`connect-src 'self' ${storageUrl};`);
  });

  it('takes a configuration', async () => {
    const body = await packFiles({ 'main.tf': 'output "x" { value = 1 }\n' });
    const { status } = await send(await newUpload(), {
      method: 'PUT',
      body,
      headers: { 'content-length': body.length },
    });
    expect(status).toBe(200);
  });

  it('answers pages of the public URL', async () => {
    const preflight = { origin: publicUrl, 'access-control-request-method': 'PUT' };
    const { status, headers } = await send(await newUpload(), { method: 'OPTIONS', headers: preflight });
    expect([status, headers['access-control-allow-origin']]).toEqual([200, '*']);
  });

  it('rejects requests without the signature of a URL, and other services', async () => {
    const url = new URL(await newUpload());
    expect((await send(`${storageUrl}${url.pathname}`)).status).toBe(403);
    expect((await send(`${storageUrl}/_usage`)).status).toBe(403);
    url.searchParams.set('X-Amz-Expires', '604800');
    expect((await send(String(url), { method: 'PUT', body: 'x' })).text).toContain('SignatureDoesNotMatch');
    const target = { 'x-amz-target': 'DynamoDB_20120810.ListTables', authorization: 'AWS4-HMAC-SHA256 x' };
    expect((await send(storageUrl, { method: 'POST', headers: target, body: '{}' })).status).toBe(403);
  });
});

describe('metrics', () => {
  it('are served on this machine only', async () => {
    const text = await (await fetch(`${local.url}/metrics`)).text();
    for (const name of [
      'healthy 1',
      'runners 0',
      'data_free_bytes [1-9]',
      'memory_bytes [1-9]',
      'http_responses_total{status="2xx"} [1-9]',
    ])
      expect(text).toMatch(new RegExp(`^stepform_${name}`, 'm'));
    expect((await send(`${publicUrl}/metrics`)).status).toBe(404);
    // A proxy that does not keep the client's host name.
    const forwarded = await fetch(`${local.url}/metrics`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect([forwarded.status, await forwarded.text()]).toEqual([404, expect.not.stringContaining('stepform_')]);
    expect((await send(`${storageUrl}/metrics`)).status).toBe(403);
  });
});
