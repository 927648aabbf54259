import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { manifestOf } from '#version-control/github-app/manifest.ts';
import { openInBrowser } from './browser.ts';
import { CommandError } from './exit.ts';

/**
 * Registers a GitHub App from a manifest (GitHub: registering a GitHub App from a manifest): a local page sends the
 * manifest to GitHub, whose redirect brings a code for the app's secrets.
 */

export interface RegisteredApp {
  id: number;
  slug: string;
  clientId: string;
  key: string;
  clientSecret: string;
  webhookSecret: string;
}

interface Wanted {
  name: string;
  publicUrl: string;
  /** URL of GitHub, and of its API. */
  url: string;
  apiUrl: string;
  /** GitHub organization that owns the app; absent: the user. */
  owner: string | undefined;
}

const patienceMs = 30 * 60_000;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

const pageFor = (action: string, manifest: object): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Create the GitHub App</title>
<form method="post" action="${escaped(action)}"><input type="hidden" name="manifest" value="${escaped(JSON.stringify(manifest))}">
<p>GitHub shows what the app may do, and asks for its name.</p><button autofocus>Create the GitHub App</button></form></html>`;

const listen = (server: Server): Promise<string> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });

/** Serves the page, and resolves with the code in GitHub's redirect. */
const codeFrom = (
  server: Server,
  { path, state, page }: { path: string; state: string; page(): string },
): Promise<string> =>
  new Promise((resolve, reject) => {
    const late = () => reject(new CommandError('GitHub did not answer within 30 minutes. Try again.'));
    const timer = setTimeout(late, patienceMs);
    server.on('request', (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
      const code = searchParams.get('code');
      if (request.method === 'GET' && pathname === path) {
        response
          .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
          .end(page());
        return;
      }
      // Any local program can send a request here; only GitHub's redirect has the state.
      if (pathname !== '/created' || searchParams.get('state') !== state || !code) {
        response.writeHead(404).end('Unexpected response.\n');
        return;
      }
      clearTimeout(timer);
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      response.end('The GitHub App is created. Close this tab and go back to the terminal.\n');
      resolve(code);
    });
  });

const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0;

/** The code works once, for an hour. @throws {CommandError} */
const convert = async (apiUrl: string, code: string): Promise<RegisteredApp> => {
  const headers = { accept: 'application/vnd.github+json', 'user-agent': 'stepform' };
  const url = `${apiUrl}/app-manifests/${encodeURIComponent(code)}/conversions`;
  const response = await fetch(url, { method: 'POST', headers, redirect: 'error' }).catch(() => undefined);
  const app = response?.ok ? ((await response.json()) as Record<string, unknown>) : undefined;
  const {
    id,
    slug,
    client_id: clientId,
    client_secret: clientSecret,
    pem: key,
    webhook_secret: returnedSecret,
  } = app ?? {};
  if (typeof id !== 'number' || !isText(slug) || !isText(clientId) || !isText(clientSecret) || !isText(key)) {
    throw new CommandError(
      `GitHub did not return the app's secrets (${response?.status ?? 'no answer'}). Delete the app there, and try again.`,
    );
  }
  // An app without a webhook has no webhook secret: deliveries are then never accepted.
  const webhookSecret = isText(returnedSecret) ? returnedSecret : randomBytes(32).toString('hex');
  return { id, slug, clientId, clientSecret, key, webhookSecret };
};

/** @param say prints instructions for the user @throws {CommandError} */
export const registerApp = async (wanted: Wanted, say: (text: string) => void): Promise<RegisteredApp> => {
  const { name, publicUrl, url, apiUrl, owner } = wanted;
  const server = createServer();
  try {
    const base = await listen(server);
    const [path, state] = [`/${randomBytes(16).toString('hex')}`, randomBytes(32).toString('base64url')];
    const manifest = manifestOf({ name, publicUrl, redirectUrl: `${base}/created` });
    const at = owner ? `/organizations/${encodeURIComponent(owner)}` : '';
    const action = `${url}${at}/settings/apps/new?state=${state}`;
    const code = codeFrom(server, { path, state, page: () => pageFor(action, manifest) });
    say(`Create the app in your browser. If it does not open, go to:\n\n  ${base}${path}\n`);
    openInBrowser(`${base}${path}`);
    return await convert(apiUrl, await code);
  } finally {
    server.close();
    server.closeAllConnections();
  }
};
