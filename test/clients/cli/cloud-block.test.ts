import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { findAddress, findToken } from '#clients/cli/address.ts';
import { declaredVariables, hasConfiguration, readCloudBlock } from '#clients/cli/cloud-block.ts';
import { exit } from '#clients/cli/exit.ts';

/** Which platform, workspace and token a command uses. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cloud-block-'));
  // No login of this machine's user.
  vi.stubEnv('HOME', folder);
  vi.stubEnv('TF_CLI_CONFIG_FILE', join(folder, 'none.tfrc'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});
const write = (files: Record<string, string>) => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
};
const block = (inner: string) => `terraform {\n  required_version = ">= 1"\n  ${inner}\n}\n`;

it.each([
  [
    'a cloud block',
    block('cloud {\n organization = "acme"\n hostname = "h.test"\n workspaces {\n name = "net"\n }\n }'),
    { host: 'h.test', organization: 'acme', workspace: 'net' },
  ],
  [
    'a remote backend',
    block('backend "remote" {\n organization = "acme"\n workspaces {\n name = "net"\n }\n }'),
    { host: undefined, organization: 'acme', workspace: 'net' },
  ],
  [
    'another backend',
    block('backend "s3" {\n organization = "acme"\n }'),
    { host: undefined, organization: undefined, workspace: undefined },
  ],
  [
    'a template, which Terraform does not allow',
    block('cloud {\n organization = "a%{b}"\n }'),
    { host: undefined, organization: undefined, workspace: undefined },
  ],
  [
    'an empty name',
    block('cloud {\n organization = ""\n }'),
    { host: undefined, organization: undefined, workspace: undefined },
  ],
])('the address, organization and workspace of %s are read from HCL', (_, text, expected) => {
  write({ 'main.tf': text, 'notes.txt': block('cloud {\n organization = "other"\n }') });
  expect(readCloudBlock(folder, {})).toEqual(expected);
});

it('a cloud block is read from JSON, and environment variables fill in what it lacks', () => {
  write({ 'main.tofu.json': JSON.stringify({ terraform: { cloud: { workspaces: { tags: ['a'] } } } }) });
  const env = { TF_CLOUD_HOSTNAME: 'h.test', TF_CLOUD_ORGANIZATION: 'acme', TF_WORKSPACE: 'net' };
  expect(readCloudBlock(folder, env)).toEqual({ host: 'h.test', organization: 'acme', workspace: 'net' });
  write({
    'main.tofu.json': JSON.stringify({
      terraform: { cloud: { hostname: 'own.test', organization: 'own', workspaces: { name: 'its' } } },
    }),
  });
  expect(readCloudBlock(folder, env)).toEqual({ host: 'own.test', organization: 'own', workspace: 'its' });
});

it('the workspace is the selected one, with the prefix of the backend', () => {
  write({ 'main.tf': block('backend "remote" {\n organization = "acme"\n workspaces {\n prefix = "net-"\n }\n }') });
  expect(readCloudBlock(folder, {}).workspace).toBeUndefined();
  mkdirSync(join(folder, '.terraform'));
  writeFileSync(join(folder, '.terraform', 'environment'), 'dev\n');
  expect(readCloudBlock(folder, {}).workspace).toBe('net-dev');
  expect(readCloudBlock(folder, { TF_WORKSPACE: 'prod' }).workspace).toBe('net-prod');
  rmSync(join(folder, 'main.tf'));
  expect(readCloudBlock(folder, {}).workspace, 'without a block nothing was selected').toBeUndefined();
});

it('the declared variables of a folder have their types, and a folder without Terraform files has none', () => {
  expect([hasConfiguration(folder), hasConfiguration(join(folder, 'nothing'))]).toEqual([false, false]);
  write({
    'a.tf': 'variable "size" {\n  type = number\n}\nvariable "any" {}\nresource "a" "b" {}\n',
    'b.tf.json': JSON.stringify({ variable: { list: { type: 'list(string)' } } }),
  });
  expect(hasConfiguration(folder)).toBe(true);
  expect([...declaredVariables(folder)].sort()).toEqual([
    ['any', undefined],
    ['list', 'list(string)'],
    ['size', 'number'],
  ]);
});

const local = undefined;
const places = (change: object = {}) => ({ option: undefined, block: undefined, local, env: {}, ...change });

it.each([
  [
    { option: 'a.test', env: { TFE_ADDRESS: 'https://b.test' } },
    { url: 'https://a.test', host: 'a.test', from: '--host' },
  ],
  [
    { env: { TFE_ADDRESS: 'https://b.test:8443/path/', TFE_HOSTNAME: 'c.test' } },
    { url: 'https://b.test:8443/path', host: 'b.test:8443', from: 'TFE_ADDRESS' },
  ],
  [
    { env: { TFE_HOSTNAME: 'c.test' }, block: 'd.test' },
    { url: 'https://c.test', host: 'c.test', from: 'TFE_HOSTNAME' },
  ],
  [{ block: 'd.test' }, { url: 'https://d.test', host: 'd.test', from: 'the cloud block' }],
])('the first source of an address takes precedence: %j', (given, expected) => {
  expect(findAddress(places(given))).toEqual(expected);
});

it.each(['ftp://a.test', 'https://me@a.test', 'https://a.test?q=1', 'https://a.test#x', 'a b', 'http://a.test'])(
  'the address "%s" is a usage error',
  (option) => {
    expect(() => findAddress(places({ option }))).toThrow(expect.objectContaining({ exitCode: exit.usage }));
  },
);

it('the error for a missing address names the remedy', () => {
  expect(() => findAddress(places())).toThrow(/No server configured\. Sign in with/);
});

it('TFE_TOKEN is sent only to an address from an option or the environment', () => {
  const address = (from: string) => ({ url: 'https://a.test', host: 'a.test', from });
  const env = { TFE_TOKEN: 'secret' };
  for (const from of ['--host', 'TFE_ADDRESS', 'TFE_HOSTNAME'])
    expect(findToken(address(from), undefined, env)).toEqual({ token: 'secret', from: 'TFE_TOKEN' });
  expect(() => findToken(address('the cloud block'), undefined, env)).toThrow(
    expect.objectContaining({
      exitCode: exit.notAllowed,
      message: expect.stringContaining('TFE_TOKEN is used only with TFE_ADDRESS or --host'),
    }),
  );
  expect(() => findToken(address('--host'), undefined, {})).toThrow(
    /^No token for a\.test\. Sign in: \S+ login a\.test\.$/,
  );
});
