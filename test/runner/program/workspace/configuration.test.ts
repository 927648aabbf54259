import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PhaseError } from '#runner/program/errors.ts';
import {
  backendText,
  linkBackend,
  readRootModule,
  refuseOtherBackends,
} from '#runner/program/workspace/configuration.ts';
import { Folder } from '#runner/program/workspace/door.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'configuration-test-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const read = (files: Record<string, string>, engine: 'terraform' | 'tofu' = 'terraform') => {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  return readRootModule(directory, engine);
};

const s3 = 'terraform {\n  backend "s3" {}\n}\n';

describe('backends', () => {
  it.each([
    ['native', { 'main.tf': s3 }, 'terraform', 'backend "s3" (main.tf line 2)'],
    ['JSON', { 'main.tf.json': '{"terraform":{"backend":{"gcs":{}}}}' }, 'terraform', 'backend "gcs" (main.tf.json)'],
    [
      'JSON in arrays',
      { 'a.tf.json': '[{"terraform":[{"backend":[{"local":{}}]}]}]' },
      'terraform',
      'backend "local" (a.tf.json)',
    ],
    ['an override', { 'main.tf': '', 'x_override.tf': s3 }, 'terraform', 'backend "s3" (x_override.tf line 2)'],
    ['OpenTofu', { 'main.tofu': s3 }, 'tofu', 'backend "s3" (main.tofu line 2)'],
    ['OpenTofu in .tf', { 'main.tf': s3 }, 'tofu', 'backend "s3" (main.tf line 2)'],
    ['beside OpenTofu’s', { 'main.tf': s3, 'main.tofu': '' }, 'terraform', 'backend "s3" (main.tf line 2)'],
  ] as const)('are found: %s', async (_, files, engine, expected) => {
    const module = await read(files, engine);
    expect(() => refuseOtherBackends(module)).toThrow(`The configuration declares ${expected}`);
    expect(() => refuseOtherBackends(module)).toThrow('Remove the block, or migrate its state first.');
  });

  it.each([
    ['remote', { 'main.tf': 'terraform {\n backend "remote" {}\n}' }, 'terraform'],
    ['a cloud block', { 'main.tf': 'terraform {\n cloud {}\n}' }, 'terraform'],
    ['editors’ files', { '.#main.tf': s3, 'main.tf~': s3, '#main.tf#': s3 }, 'terraform'],
    ['other files', { 'backend.txt': s3, 'x.tfvars': 'a = 1', 'main.tofu': s3 }, 'terraform'],
    ['files in whose place OpenTofu reads a .tofu file', { 'main.tf': s3, 'main.tofu': '' }, 'tofu'],
    ['broken JSON', { 'a.tf.json': '{"terraform":{"backend":' }, 'terraform'],
  ] as const)('of others are ignored: %s', async (_, files, engine) => {
    const module = await read(files, engine);
    expect(() => refuseOtherBackends(module)).not.toThrow();
  });
});

it('variables are found, with ephemeral ones', async () => {
  const module = await read({
    'a.tf':
      'variable "one" {\n ephemeral = true\n}\nvariable "two" {\n ephemeral = false\n}\nvariable "three" {}\noutput "four" {}',
    'b.tf.json': '{"variable":{"four":{"ephemeral":true},"five":[{"ephemeral":true}],"six":{}}}',
  });
  expect(module.variables).toEqual(['one', 'two', 'three', 'four', 'five', 'six']);
  expect(module.ephemeralVariables).toEqual(['one', 'four', 'five']);
});

it('the error names a file that is nested too deep', async () => {
  const error: Error = await read({ 'deep.tf': `locals {\n  a = ${'['.repeat(300)}\n}\n` }).then(
    String,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(PhaseError);
  expect(error.message).toMatch(/^deep\.tf cannot be read: .*200 levels in line 2\.$/);
});

describe('the override', () => {
  it.each([
    [{}, 'zz_stepform_override.tf'],
    [{ 'a_override.tf': '', 'override.tf': '' }, 'zz_stepform_override.tf'],
    [{ 'zz_stepform_override.tf': '' }, 'zz_stepform~_override.tf'],
    [{ 'zzz_override.tf': '' }, 'zzz~_override.tf'],
    [{ 'zz~_override.tf.json': '{}' }, 'zz~~_override.tf'],
  ])('comes after %j', async (files, name) => {
    const module = await read(files);
    const backend = join(directory, 'backend');
    writeFileSync(backend, backendText('../state'));
    Folder.at(directory, (folder) => linkBackend(backend, folder, module));
    expect(readFileSync(join(directory, name), 'utf8')).toContain('workspace_dir = "../state"');
    expect([...module.overrideFiles, name].sort().at(-1)).toBe(name);
  });
});
