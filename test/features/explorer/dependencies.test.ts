import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { zipOf } from '#environments/templates/zip.ts';
import { dependenciesIn, modulesIn, providersIn } from '#features/explorer/dependencies.ts';
import { writePlanArchive } from '#runner/program/plan-archive.ts';

const manifest = (...modules: object[]) => JSON.stringify([{ Key: '', Dir: '.' }, ...modules]);
const lockFile = 'provider "registry.terraform.io/hashicorp/null" {\n  version = "3.2.1"\n  hashes = ["h1:x"]\n}\n';
const planOf = (files: Record<string, string>) =>
  writePlanArchive({
    plan: zipOf(Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content) }))),
    version: '1.11.4',
  });

it('the reader finds providers and modules in the files of a plan', async () => {
  const modules = manifest(
    { Key: 'vpc', Source: 'registry.terraform.io/terraform-aws-modules/vpc/aws', Version: '5.1.0', Dir: 'a' },
    { Key: 'vpc2', Source: 'registry.terraform.io/terraform-aws-modules/vpc/aws', Version: '5.1.0', Dir: 'b' },
    { Key: 'own', Source: './own', Dir: 'own' },
  );
  const files = { 'tfconfig/modules.json': modules, '.terraform.lock.hcl': lockFile, tfplan: 'binary' };
  expect(await dependenciesIn(await planOf(files))).toEqual({
    modules: [{ source: 'registry.terraform.io/terraform-aws-modules/vpc/aws', version: '5.1.0' }],
    providers: [{ source: 'registry.terraform.io/hashicorp/null', version: '3.2.1' }],
  });
});

it('the reader removes credentials from sources', () => {
  const sources = [
    'git::https://user:secret@git.example/a.git?ref=v1&sshkey=secret',
    'git::ssh://git@git.example/b.git//sub?ref=v2',
    'https://secret@files.example/c.zip?token=secret',
  ];
  const found = modulesIn(manifest(...sources.map((Source, n) => ({ Key: String(n), Source }))));
  expect(JSON.stringify(found)).not.toContain('secret');
  expect(found).toContainEqual({ source: 'git::https://git.example/a.git', version: 'v1' });
});

it('the reader ignores sources that a spreadsheet could evaluate as a formula', () => {
  const Source = '=HYPERLINK("https://evil.example")';
  expect(modulesIn(manifest({ Key: 'a', Source }, { Key: 'b', Source: '@SUM(1)' }))).toEqual([]);
  expect(providersIn('provider "=cmd|calc" {\n version = "1"\n}\n')).toEqual([]);
});

it.each([
  ['no archive', Buffer.from('nothing')],
  ['no plan in it', gzipSync(Buffer.alloc(1024))],
])('the reader ignores %s', async (_, archive) => {
  expect(await dependenciesIn(archive)).toEqual({});
});

it('the reader ignores invalid zips, invalid manifests, and files that are too large when unpacked', async () => {
  expect(await dependenciesIn(await writePlanArchive({ plan: Buffer.from('no zip'), version: '1' }))).toEqual({});
  expect(await dependenciesIn(await planOf({ 'tfconfig/modules.json': '{' }))).toEqual({});
  const large = manifest({ Key: 'a', Source: 'git.example/a', Version: ' '.repeat(2 * 1024 * 1024) });
  expect(await dependenciesIn(await planOf({ 'tfconfig/modules.json': large }))).toEqual({});
});
