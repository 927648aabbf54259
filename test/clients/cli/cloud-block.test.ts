import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { declaredVariables, hasConfiguration, readCloudBlock } from '#clients/cli/cloud-block.ts';

/** The platform and workspace that a folder's Terraform files name. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cloud-block-'));
});
afterEach(() => rmSync(folder, { recursive: true }));
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
