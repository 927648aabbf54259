import { request as httpRequest } from 'node:http';
import { expect, it } from 'vitest';
import { Scene } from './support.ts';

/** A client's made-up host name does not reach links, redirects and sign-ins of other users. */

const scene = await Scene.open();

const evil = 'evil.example';

/** The complete response: headers and body. */
const ask = (path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(scene.platform.local.url);
    const sent = httpRequest({ hostname, port, path, headers }, async (response) => {
      const body = (await response.toArray()).join('');
      resolve({ status: response.statusCode ?? 0, text: `${JSON.stringify(response.headers)}\n${body}` });
    });
    sent.on('error', reject).end();
  });

const challenge = 'a'.repeat(43);
const pathsFor = async (): Promise<string[]> => {
  const workspace = await scene.workspace(scene.owner, scene.organization);
  return [
    '/.well-known/terraform.json',
    '/.well-known/openid-configuration',
    `/oauth/sign-in?client_id=page&code_challenge=${challenge}&code_challenge_method=S256`,
    `/oauth/authorization?client_id=terraform-cli&response_type=code&redirect_uri=http://localhost:10000/login&code_challenge=${challenge}&code_challenge_method=S256&state=x`,
    `/api/v2/workspaces/${workspace.id}`,
    `/api/v2/organizations/${scene.organization}/oauth-clients`,
    '/app',
    '/',
  ];
};

it('responses contain no host from a request header', async () => {
  const { host } = new URL(scene.platform.local.url);
  const authorization = `Bearer ${scene.owner}`;
  const forged: Record<string, string>[] = [
    { host: evil },
    { host: `${evil}:${host.split(':')[1]}` },
    { host, 'x-forwarded-host': evil },
    { host, forwarded: `host=${evil}` },
    { host, 'x-original-host': evil },
  ];
  for (const path of await pathsFor()) {
    for (const headers of forged) {
      const { status, text } = await ask(path, { ...headers, authorization });
      if (headers.host === host) expect([path, text.includes(evil)]).toEqual([path, false]);
      else expect([path, status]).toEqual([path, 421]);
    }
  }
});

it('the platform sends the issuer its own callback URL', async () => {
  const { host, origin } = new URL(scene.platform.local.url);
  const path = `/oauth/sign-in?client_id=page&code_challenge=${challenge}&code_challenge_method=S256`;
  const { status, text } = await ask(path, { host, 'x-forwarded-proto': 'https', 'x-forwarded-host': evil });
  expect(status).toBe(302);
  expect(text).toContain(encodeURIComponent(`${origin}/oauth/callback`));
});
