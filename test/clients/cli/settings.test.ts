import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { findAddress, findToken } from '#clients/cli/address.ts';
import { credentialsFile, forgetToken, keepToken, keptToken } from '#clients/cli/credentials.ts';
import { exit } from '#clients/cli/exit.ts';
import { findLocalPlatform, type LocalPlatform } from '#clients/cli/local-platform.ts';
import { hostFile, hostUrl, removeHostFile, writeHostFile } from '#clients/cli/terraform-host.ts';

/** The server and the account of a command. */

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepform-settings-'));
  vi.stubEnv('HOME', folder);
  vi.stubEnv('TF_CLI_CONFIG_FILE', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const write = (name: string, content: string): void => writeFileSync(join(folder, name), content);

const local: LocalPlatform = {
  url: 'http://localhost:8080',
  httpsUrl: 'https://localhost:8443',
  organization: 'local',
  token: 'of-the-machine',
  path: '/data/local.json',
};

const places = { option: undefined, block: undefined, local: undefined, env: {} };

it('the server comes from the option, environment, cloud block, this machine or the only login, in this order', () => {
  const all = {
    option: 'a.example',
    block: 'd.example',
    local,
    env: { TFE_ADDRESS: 'https://b.example/base/', TFE_HOSTNAME: 'c.example' },
  };
  expect(findAddress(all)).toMatchObject({ url: 'https://a.example', host: 'a.example' });
  expect(findAddress({ ...all, option: undefined })).toMatchObject({
    url: 'https://b.example/base',
    from: 'TFE_ADDRESS',
  });
  expect(findAddress({ ...all, option: undefined, env: { TFE_HOSTNAME: 'c.example' } })).toMatchObject({
    host: 'c.example',
  });
  expect(findAddress({ ...all, option: undefined, env: {} })).toMatchObject({ host: 'd.example' });
  expect(findAddress({ ...places, local })).toMatchObject({ url: 'http://localhost:8080', host: 'localhost:8443' });
  expect(() => findAddress(places)).toThrow('stepform login <host>');
  keepToken('e.example', 'x');
  expect(findAddress(places)).toMatchObject({ url: 'https://e.example' });
  keepToken('f.example', 'x');
  expect(() => findAddress(places)).toThrow('No server configured');
});

it('the generic host name stands for this machine, else for the server in the host file', () => {
  const block = { ...places, block: 'localterraform.com' };
  expect(findAddress({ ...block, local })).toMatchObject({ url: 'http://localhost:8080', from: 'the cloud block' });
  expect(() => findAddress(block)).toThrow('login <host> --terraform');
  writeHostFile('https://former.example', 'secret');
  writeHostFile('https://tf.example/base', 'secret');
  expect(findAddress(block)).toMatchObject({ url: 'https://tf.example/base', host: 'tf.example' });
  expect(statSync(hostFile()).mode & 0o777).toBe(0o600);
  expect(removeHostFile('https://other.example')).toBe(false);
  expect(removeHostFile('https://tf.example/base')).toBe(true);
  expect(hostUrl()).toBeUndefined();
});

it('the platform on this machine is reached without its certificate, by each of its names', () => {
  expect(findAddress({ ...places, option: 'localhost:8443', local })).toMatchObject({
    url: 'http://localhost:8080',
    host: 'localhost:8443',
  });
  expect(findAddress({ ...places, block: 'localhost:8443', local }).url).toBe('http://localhost:8080');
});

it.each([
  'not a host',
  'https://u:p@a.example',
  'https://a.example/?x=1',
  'https://a.example/#x',
  'ftp://a.example',
  '',
])('the host "%s" is rejected', (option) => {
  expect(() => findAddress({ ...places, option: option || 'http://' })).toThrow('not a valid host');
});

it.each(['http://stepform.lan', 'http://10.0.0.7:8080', 'http://localhost.example', 'http://x.localhost'])(
  'plain http to another machine, %s, is refused unless its host is allowed',
  (option) => {
    const { host } = new URL(option);
    expect(() => findAddress({ ...places, option })).toThrow(`STEPFORM_PLAIN_HTTP_HOSTS=${host}`);
    const named = { ...places, option, env: { STEPFORM_PLAIN_HTTP_HOSTS: `other, ${host}` } };
    expect(findAddress(named).host).toBe(host);
  },
);

it.each(['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080'])(
  'plain http to %s is accepted',
  (option) => {
    expect(findAddress({ ...places, option }).url).toBe(option);
  },
);

it('the token is that of the host, and TFE_TOKEN is never sent to a host from a file', () => {
  const byOption = findAddress({ ...places, option: 'my-host.example' });
  const byBlock = findAddress({ ...places, block: 'my-host.example' });
  const env = { TFE_TOKEN: 'of-env' };
  expect(findToken(byOption, undefined, env)).toEqual({ token: 'of-env', from: 'TFE_TOKEN' });
  expect(() => findToken(byBlock, undefined, env)).toThrow('TFE_TOKEN is used only with TFE_ADDRESS or --host');
  expect(() => findToken(byBlock, undefined, {})).not.toThrow('TFE_TOKEN');
  expect(() => findToken(byBlock, undefined, {})).toThrow(expect.objectContaining({ exitCode: exit.notAllowed }));
  const configured = { TF_CLI_CONFIG_FILE: join(folder, 'none') };
  expect(() => findToken(byBlock, undefined, configured)).not.toThrow('are ignored');
  keepToken('my-host.example', 'kept');
  expect(findToken(byBlock, undefined, {}).token).toBe('kept');
  vi.stubEnv('TF_CLI_CONFIG_FILE', configured.TF_CLI_CONFIG_FILE);
  expect(() => findToken(byBlock, undefined, configured)).toThrow('are ignored because TF_CLI_CONFIG_FILE is set');
  vi.stubEnv('TF_CLI_CONFIG_FILE', undefined);
  write('.terraformrc', 'credentials "my-host.example" {\n  token = "configured"\n}\n');
  expect(findToken(byBlock, undefined, {}).token).toBe('configured');
  vi.stubEnv('TF_TOKEN_my__host_example', 'of-terraform');
  expect(findToken(byBlock, undefined, {}).token).toBe('of-terraform');
  expect(findToken(findAddress({ ...places, local }), local, {}).token).toBe('of-the-machine');
});

it('tokens are stored like by terraform login: readable by the owner only, leaving other entries unchanged', () => {
  mkdirSync(join(folder, '.terraform.d'));
  writeFileSync(credentialsFile(), '{"credentials":{"other.example":{"token":"theirs"}},"future":1}');
  keepToken('a.example:8443', 'mine');
  expect(JSON.parse(readFileSync(credentialsFile(), 'utf8'))).toEqual({
    credentials: { 'other.example': { token: 'theirs' }, 'a.example:8443': { token: 'mine' } },
    future: 1,
  });
  expect(statSync(credentialsFile()).mode & 0o777).toBe(0o600);
  expect(forgetToken('a.example:8443')).toBe(true);
  expect(forgetToken('a.example:8443')).toBe(false);
  expect(keptToken('other.example')).toBe('theirs');
  for (const invalid of ['not json', 'null', '[]', '"text"']) {
    writeFileSync(credentialsFile(), invalid);
    expect(() => keepToken('a.example', 'mine')).toThrow('Repair or remove it');
    expect(readFileSync(credentialsFile(), 'utf8')).toBe(invalid);
  }
  rmSync(join(folder, '.terraform.d'), { recursive: true });
  keepToken('a.example', 'mine');
  const text = readFileSync(credentialsFile(), 'utf8');
  expect(text).toBe('{\n  "credentials": {\n    "a.example": {\n      "token": "mine"\n    }\n  }\n}\n');
  expect(statSync(join(folder, '.terraform.d')).mode & 0o777).toBe(0o700);
});

it('the platform of a parent folder is found, and trusted only with an address on this machine', () => {
  mkdirSync(join(folder, '.stepform'));
  mkdirSync(join(folder, 'inner'));
  write('.stepform/local.json', JSON.stringify(local));
  expect(findLocalPlatform(join(folder, 'inner'), {})).toMatchObject({ token: 'of-the-machine' });
  write('.stepform/local.json', JSON.stringify({ ...local, url: 'http://evil.example' }));
  expect(findLocalPlatform(join(folder, 'inner'), {})).toBeUndefined();
});
