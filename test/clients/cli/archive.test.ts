import { randomFillSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packFolder } from '#clients/cli/archive.ts';
import { runVariables } from '#clients/cli/variables.ts';
import { maxArchiveBytes } from '#run/limits.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stepform-archive-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (name: string, content = name): void => {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), content);
};

const packed = async (folder: string): Promise<Record<string, string>> => {
  const entries: Record<string, string> = {};
  const unpack = extract();
  unpack.end(
    await buffer(
      new Blob([new Uint8Array(await packFolder(folder))]).stream().pipeThrough(new DecompressionStream('gzip')),
    ),
  );
  for await (const entry of unpack) {
    const { name, type, linkname } = entry.header;
    entries[name] = type === 'symlink' ? `→ ${linkname}` : (await buffer(entry)).toString();
    entry.resume();
  }
  return entries;
};

it('a configuration archive contains what Terraform packs: no .git, only modules of .terraform, at any depth', async () => {
  for (const name of [
    'main.tf',
    'a/b.tf',
    '.git/config',
    'a/.git/x',
    '.terraform/environment',
    '.terraform/modules/m/main.tf',
    'a/.terraform/providers/p',
    '.gitignore',
  ])
    write(name);
  expect(Object.keys(await packed(root)), 'in order').toEqual([
    '.gitignore',
    '.terraform/modules/m/main.tf',
    'a/b.tf',
    'main.tf',
  ]);
});

it('a configuration archive contains states of the local backend only if .terraformignore includes them', async () => {
  for (const name of [
    'main.tf',
    'terraform.tfstate',
    'terraform.tfstate.backup',
    'terraform.tfstate.d/a/terraform.tfstate',
  ])
    write(name);
  expect(Object.keys(await packed(root))).toEqual(['main.tf']);
  write('.terraformignore', '!terraform.tfstate.backup\n');
  expect(Object.keys(await packed(root)).sort()).toEqual(['.terraformignore', 'main.tf', 'terraform.tfstate.backup']);
});

it('a configuration archive excludes files in .terraformignore; the last matching rule decides', async () => {
  for (const name of [
    'main.tf',
    'notes.md',
    'a/notes.md',
    'docs/x.tf',
    'a/docs/x.tf',
    'top.txt',
    'a/top.txt',
    'keep.md',
    'a.b.c',
  ])
    write(name);
  write('.terraformignore', '# all notes\n*.md\n!keep.md\ndocs/\n/top.txt\na?b.c\n');
  expect(Object.keys(await packed(root)).sort()).toEqual(['.terraformignore', 'a/top.txt', 'keep.md', 'main.tf']);
});

it('a configuration archive keeps links within the folder, copies targets outside of it, and follows no loops', async () => {
  write('in/main.tf');
  write('shared/vars.tf');
  symlinkSync('main.tf', join(root, 'in', 'same.tf'));
  symlinkSync(join(root, 'in', 'main.tf'), join(root, 'in', 'absolute.tf'));
  symlinkSync('../shared', join(root, 'in', 'shared'));
  symlinkSync('../in', join(root, 'shared', 'back'));
  for (const folder of ['in', 'shared']) symlinkSync('nowhere', join(root, folder, 'broken'));
  expect(await packed(join(root, 'in'))).toEqual({
    'main.tf': 'in/main.tf',
    'same.tf': '→ main.tf',
    'absolute.tf': '→ main.tf',
    'shared/vars.tf': 'shared/vars.tf',
  });
});

it('--var is read by the declared type, as in Terraform', () => {
  write(
    'main.tf',
    'variable "text" {}\nvariable "n" {\n type = number\n}\nvariable "list" {\n type = list(string)\n}\n',
  );
  expect(runVariables(['text=[1]', 'n=5', 'list=["a"]', 'other={}', 'more=a "b" $\x7bc} %{d}=e'], root)).toEqual([
    { key: 'text', value: '"[1]"' },
    { key: 'n', value: '"5"' },
    { key: 'list', value: '["a"]' },
    { key: 'other', value: '{}' },
    { key: 'more', value: '"a \\"b\\" $${c} %%{d}=e"' },
  ]);
  expect(() => runVariables(['n'], root)).toThrow('--var n: give it as name=value');
});

it('a folder that is too large when packed is refused, with its largest files', async () => {
  write('main.tf');
  writeFileSync(join(root, 'noise.bin'), randomFillSync(Buffer.alloc(maxArchiveBytes)));
  await expect(packFolder(root)).rejects.toThrow(/at most 104.* MB can be uploaded.*Largest: noise\.bin \(/);
});
