import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { registerApp } from '#clients/cli/app-registration.ts';
import { Call } from '#clients/cli/arguments.ts';
import { openInBrowser } from '#clients/cli/browser.ts';
import { findCommand } from '#clients/cli/commands.ts';
import { localGithubAppVariable } from '#infra/stack/github-app.ts';

/** Creation of the platform's GitHub App, with a server in place of GitHub's API and requests in place of a browser. */

let github: Server;
let url: string;
let requests: string[];
let conversion: { status: number; body: object };
const app = {
  id: 12,
  slug: 'stepform-acme',
  client_id: 'Iv1.x',
  client_secret: 'the-client-secret',
  webhook_secret: 'the-webhook-secret',
  pem: '-----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----\n',
};
beforeAll(async () => {
  process.env.BROWSER = 'true';
  github = createServer((request: IncomingMessage, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(conversion.status, { 'content-type': 'application/json' }).end(JSON.stringify(conversion.body));
  });
  await new Promise<void>((done) => github.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(github.address() as AddressInfo).port}`;
});
beforeEach(() => {
  requests = [];
  conversion = { status: 201, body: app };
});
afterAll(() => {
  delete process.env.BROWSER;
  github.close();
});

const wanted = (change: object = {}) => ({
  name: 'stepform acme',
  publicUrl: 'https://stepform.example',
  url,
  apiUrl: url,
  owner: 'acme',
  ...change,
});

const unescaped = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');

/** The content that the page would send to GitHub. */
const openPage = async (said: string) => {
  const [at = ''] = /http:\/\/127\S+/.exec(said) ?? [];
  const html = await (await fetch(at)).text();
  const [, action = ''] = /action="([^"]+)"/.exec(html) ?? [];
  const [, manifest = ''] = /value="([^"]+)"/.exec(html) ?? [];
  return { base: new URL(at).origin, action: new URL(unescaped(action)), manifest: JSON.parse(unescaped(manifest)) };
};

const begin = async (change: object = {}) => {
  const said: string[] = [];
  const registered = registerApp(wanted(change), (text) => said.push(text));
  registered.catch(() => {});
  await vi.waitFor(() => expect(said).toHaveLength(1));
  return { registered, ...(await openPage(said[0] ?? '')) };
};

it('github-app create sends a manifest with the needed permissions, and exchanges the code for the secrets', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const { registered, base, action, manifest } = await begin();
  expect(action.pathname).toBe('/organizations/acme/settings/apps/new');
  expect(manifest).toEqual({
    name: 'stepform acme',
    url: 'https://stepform.example',
    hook_attributes: { url: 'https://stepform.example/webhooks/github-app', active: true },
    redirect_url: `${base}/created`,
    callback_urls: ['https://stepform.example/auth/github-app/callback'],
    public: false,
    request_oauth_on_install: false,
    default_permissions: {
      contents: 'read',
      metadata: 'read',
      pull_requests: 'write',
      statuses: 'write',
      issues: 'read',
      merge_queues: 'read',
    },
    default_events: ['push', 'pull_request', 'issue_comment', 'merge_group'],
  });
  const state = action.searchParams.get('state') ?? '';
  // A request that never ends would keep the command waiting.
  const endless = connect(Number(new URL(base).port), '127.0.0.1').on('error', () => {});
  endless.write('GET / HTTP/1.1\r\n');
  const closed = once(endless, 'close');
  expect((await fetch(`${base}/created?code=forged&state=guessed`)).status).toBe(404);
  expect((await fetch(`${base}/`)).status).toBe(404);
  expect(requests).toEqual([]);
  expect((await fetch(`${base}/created?code=c%2F1&state=${state}`)).status).toBe(200);
  expect(await registered).toMatchObject({ id: 12, slug: 'stepform-acme', clientId: 'Iv1.x', key: app.pem });
  expect(requests).toEqual(['POST /app-manifests/c%2F1/conversions']);
  await closed;
  // So would a timer.
  await expect.poll(timers, { timeout: 10_000 }).toBeLessThanOrEqual(before);
});

it('a command does not wait for the browser that it has opened', () => {
  vi.stubEnv('BROWSER', 'sleep');
  openInBrowser('1');
  vi.unstubAllEnvs();
  expect(process.getActiveResourcesInfo()).not.toContain('ProcessWrap');
});

it('github-app create turns the webhook off if GitHub cannot reach the platform', async () => {
  const { registered, base, action, manifest } = await begin({ publicUrl: 'https://localhost:7881', owner: undefined });
  expect(action.pathname).toBe('/settings/apps/new');
  expect(manifest.hook_attributes.active).toBe(false);
  conversion.body = { ...app, webhook_secret: null };
  await fetch(`${base}/created?code=c&state=${action.searchParams.get('state')}`);
  expect((await registered).webhookSecret).toMatch(/^[0-9a-f]{64}$/);
});

it.each<[number, object]>([
  [404, {}],
  [201, { ...app, id: 'x' }],
  [201, { ...app, slug: '' }],
  [201, { ...app, client_id: undefined }],
  [201, { ...app, client_secret: undefined }],
  [201, { ...app, pem: undefined }],
])('github-app create reports when GitHub does not return the secrets (%i %j)', async (status, body) => {
  const { registered, base, action } = await begin();
  conversion = { status, body };
  await fetch(`${base}/created?code=used&state=${action.searchParams.get('state')}`);
  await expect(registered).rejects.toThrow(`did not return the app's secrets (${status})`);
});

it('github-app create stores the secrets in private files, in the format of the local platform', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'app-'));
  const out = join(parent, 'app');
  const [output, said] = [[] as string[], [] as string[]];
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => output.push(String(text)) > 0);
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
  try {
    const { command } = findCommand(['github-app']) ?? {};
    if (!command) throw new Error('no command');
    const values = { url, 'api-url': url, out, owner: 'acme' };
    const host = 'a-host-with-a-long-name.stepform.example';
    const session = { at: () => ({ url: `https://${host}`, host }) };
    const done = command.run(new Call(command, values, ['stepform.example']), session as never);
    await vi.waitFor(() => expect(said.join('')).toContain('http://127'));
    const { base, action, manifest } = await openPage(said.join(''));
    expect(manifest.name, 'GitHub accepts 34 characters').toBe('stepform a-host-with-a-long-name.s');
    await fetch(`${base}/created?code=c&state=${action.searchParams.get('state')}`);
    await done;
    const again = command.run(new Call(command, values, ['stepform.example']), session as never);
    await expect(again).rejects.toThrow('already exists');
    const nowhere = new Call(command, { ...values, out: '/proc/nowhere' }, ['stepform.example']);
    await expect(command.run(nowhere, session as never)).rejects.toThrow('cannot be created');
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
  }
  for (const name of ['key.pem', 'client-secret', 'webhook-secret', 'github-app.json']) {
    expect(statSync(join(out, name)).mode & 0o777, name).toBe(0o600);
  }
  expect(readFileSync(join(out, 'key.pem'), 'utf8')).toBe(app.pem);
  expect(readFileSync(join(out, 'webhook-secret'), 'utf8').trim()).toBe(app.webhook_secret);
  for (const secret of ['the-client-secret', 'the-webhook-secret', 'BEGIN RSA']) {
    expect(output.join('')).not.toContain(secret);
  }
  expect(output.join('')).toContain('-c githubAppKeyParameter=/stepform/github-app-key');
  expect(output.join('')).toContain(`-c githubAppUrl=${url} -c githubAppApiUrl=${url}`);
  const local = JSON.parse(localGithubAppVariable({ STEPFORM_GITHUB_APP: join(out, 'github-app.json') }));
  expect(local).toMatchObject({ id: 12, slug: 'stepform-acme', url, apiUrl: url, secrets: { key: app.pem.trim() } });
  rmSync(parent, { recursive: true });
});
