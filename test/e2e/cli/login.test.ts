import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { genericHost } from '#platform/net/generic-host.ts';
import { cloud, example, host, Terraform } from '../support/terraform.ts';
import { client, newName, platform } from '../support/world.ts';

const command = fileURLToPath(new URL('../../../functions/clients/cli/stepform.mjs', import.meta.url));

/** With nothing else on its PATH, terraform finds no browser. */
const alone = (here: Terraform): Record<string, string> => {
  const bin = join(here.directory, 'bin');
  mkdirSync(bin);
  symlinkSync(execFileSync('which', ['terraform'], { encoding: 'utf8' }).trim(), join(bin, 'terraform'));
  return { PATH: bin };
};

/** Submits the page's form like a browser. */
const submit = async (page: Response, address: string, token: string): Promise<Response> => {
  const inputs = (await page.text()).matchAll(/name="([^"]+)" value="([^"]*)"/g);
  const fields = new URLSearchParams([...inputs].map(([, name = '', value = '']) => [name, value]));
  fields.set('token', token);
  return fetch(new URL('authorization', address), { method: 'POST', body: fields, redirect: 'manual' });
};

const madeByLogin = async () => {
  const me = await client.get('/account/details');
  const tokens = await client.list(`/users/${me.id}/authentication-tokens?page[size]=100`);
  return tokens.filter(({ attributes }) => attributes.description === 'terraform login').map(({ id }) => id);
};

it('terraform login gets its own token, which works until it is revoked; logout removes it', async () => {
  const files = { 'cloud.tf': cloud(`name = "${newName('login')}"`), 'main.tf': example };
  const here = new Terraform({ files, token: null });
  const before = await madeByLogin();
  expect(await here.fail('init')).toContain('terraform login');

  const command = here.start(`login ${host}`, alone(here));
  command.answer('yes');
  await command.until('Terraform will now wait for the host to signal that login was successful.');
  const shown = /https:\/\/\S+\/oauth\/authorization\?\S+/.exec(command.text)?.[0] ?? '';
  const address = shown.replace(/^https:\/\/[^/]+/, platform.url);
  const refused = await submit(await fetch(address), address, 'sfu_wrong');
  expect(refused.status).toBe(403);
  const allowed = await submit(refused, address, platform.token);
  expect(allowed.status).toBe(303);
  // Terraform exits once it has the code, sometimes before it has answered the browser.
  await fetch(allowed.headers.get('location') ?? '').catch(() => {});
  const { code, text } = await command.ended;
  expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining('Success!') });

  await here.succeed('init -input=false');
  const createdIds = (await madeByLogin()).filter((id) => !before.includes(id));
  expect(createdIds).toHaveLength(1);
  await client.call('DELETE', `/authentication-tokens/${createdIds[0]}`);
  expect(await here.fail('init -input=false')).toMatch(/unauthorized/i);

  expect(await here.succeed(`logout ${host}`)).toContain('Success!');
  expect(await here.fail('init -input=false')).toContain('terraform login');
});

it('after "stepform login --terraform", terraform needs neither a certificate nor variables', async () => {
  const files = { 'main.tf': example, 'cloud.tf': cloud(`name = "${newName('generic')}"`).replace(host, genericHost) };
  const here = new Terraform({ files, token: null });
  const home = join(here.directory, 'home');
  const stepform = (words: string[], input = '', env: Record<string, string> = { TFE_ADDRESS: platform.url }) => {
    const child = spawn(process.execPath, [command, ...words], {
      // In any folder, also without a cloud block.
      cwd: '/',
      env: { PATH: process.env.PATH, HOME: home, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(input);
    return text(child.stdout);
  };
  const elsewhere = { TFE_ADDRESS: 'http://127.0.0.1:9' };
  expect(await stepform(['login', platform.url, '--json'], `${platform.token}\n`, elsewhere)).toContain('"username"');
  expect(await stepform(['logout', platform.url], '', elsewhere)).toContain('removed from this machine');
  expect(await stepform(['login', '--terraform'], `${platform.token}\n`)).toContain(`hostname = "${genericHost}"`);
  // For stepform too.
  const me = await stepform(['whoami'], '', { STEPFORM_DATA: join(home, 'none') });
  const kept = (name: string) => join(home, '.terraform.d', name);
  const source = `host: ${kept('stepform.tfrc')} · token: ${kept('credentials.tfrc.json')}`;
  expect(me).toMatch(new RegExp(`^\\S+ at ${platform.url}\n${source}\n$`));
  const untrusted = { SSL_CERT_FILE: '/dev/null' };
  for (const words of ['init -input=false', 'apply -auto-approve -input=false']) {
    const { code, text } = await here.start(words, untrusted).ended;
    expect({ code, text }).toMatchObject({ code: 0 });
  }
  expect(await stepform(['logout'])).toContain('removed from this machine');
  expect(readdirSync(join(home, '.terraform.d'))).toEqual(['credentials.tfrc.json']);
  expect(readFileSync(kept('credentials.tfrc.json'), 'utf8')).not.toContain(platform.token);
});
