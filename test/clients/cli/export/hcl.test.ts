import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { Configuration } from '#clients/cli/export/configuration.ts';
import { expression, hclOf, quoted, Reference } from '#clients/cli/export/hcl.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepform-hcl-'));
afterAll(() => rmSync(folder, { recursive: true }));

const env = { PATH: process.env.PATH, HOME: folder };
const terraform = (words: string[], input = '') =>
  spawnSync('terraform', words, { cwd: folder, env, encoding: 'utf8', input });

const isThere = terraform(['version']).status === 0;

const hostile = [
  '"',
  '\\',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: must not become Terraform's template
  '${file("/etc/passwd")}',
  '%{ for a in b }',
  '$${a}',
  '\n}\nresource "x" "y" {}\n',
  '<<EOT',
  '\u0000\u001b[2J\u2028',
  'ä 💥',
];

it('HCL values are escaped so that no text becomes an expression', () => {
  expect(quoted('a"b\\c\n')).toBe('"a\\"b\\\\c\\n"');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's
  expect([quoted('${a}'), quoted('%{a}')]).toEqual(['"$${a}"', '"%%{a}"']);
  expect(expression({ 'a b': ['x', 1, true, null], c: new Reference('var.c') })).toBe(
    '{ "a b" = ["x", 1, true, null], c = var.c }',
  );
});

it.skipIf(!isThere)(
  'exported HCL is read by Terraform with the same values',
  () => {
    const text = fc.string({ unit: fc.oneof(fc.constantFrom(...hostile), fc.string({ maxLength: 3 })), maxLength: 6 });
    fc.assert(
      fc.property(
        fc.array(
          text.filter((one) => one.isWellFormed() && !one.includes('\u0000')),
          { maxLength: 30 },
        ),
        (texts) => {
          writeFileSync(join(folder, 'main.tf'), hclOf([{ type: 'output', labels: ['a'], body: { value: texts } }]));
          const { status, stdout, stderr } = terraform(['console'], `jsonencode(${expression(texts)})\n`);
          expect([status, stderr]).toEqual([0, '']);
          // `jsonencode` in the console is a quoted string of JSON; Terraform normalizes text to NFC.
          const read = JSON.parse(
            JSON.parse(stdout.trim().replaceAll('$${', '${').replaceAll('%%{', '%{')),
          ) as string[];
          expect(read).toEqual(
            texts.map((one) => one.normalize('NFC').replaceAll('$${', '${').replaceAll('%%{', '%{')),
          );
        },
      ),
      { numRuns: 5 },
    );
  },
  60_000,
);

it.skipIf(!isThere)('exported HCL is valid for any keys of tags and names of secrets', () => {
  const keys = ['for', 'null', 'true', 'if', 'in', 'each', '1a', 'a-b', 'a.b', '(a)', 'ä', '', ...hostile];
  const tags = Object.fromEntries(keys.filter((key) => !key.includes('\u0000')).map((key) => [key, 'v']));
  const objects = [tags, ...Object.keys(tags).map((key) => ({ [key]: 'v' }))];
  const configuration = new Configuration();
  for (const name of ['', 'count', 'source', 'for', 'locals', '1', 'version']) configuration.secret(name, 'd');
  const own = mkdtempSync(join(folder, 'keys-'));
  for (const [path, text] of configuration.files) writeFileSync(join(own, path), text);
  writeFileSync(join(own, 'main.tf'), hclOf([{ type: 'output', labels: ['a'], body: { value: objects } }]));
  const { stdout, stderr } = spawnSync('terraform', ['validate', '-no-color'], { cwd: own, env, encoding: 'utf8' });
  expect(`${stdout}${stderr}`).toContain('Success!');
});

it.skipIf(!isThere)('exported HCL is formatted like terraform fmt', () => {
  const configuration = new Configuration();
  const [long, digits] = ['x'.repeat(100), '1'.repeat(100)];
  for (const name of ['a', 'A', 'a-b', '1', '', '"} {', 'ä', `${long}y`, `${digits}2`]) {
    configuration.resource(
      'main.tf',
      'tfe_workspace',
      name,
      `ws-${name}`,
      {
        name,
        long_argument: [1],
        tags: { a: 'b', 'c d': '' },
        nothing: undefined,
        project_id: new Reference('tfe_project.a.id'),
      },
      [
        { type: 'lifecycle', body: { ignore_changes: [new Reference('value')] } },
        { type: 'empty', body: {} },
      ],
    );
  }
  expect(configuration.secret('a', 'b')).toEqual(new Reference('var.a'));
  const { files } = configuration;
  expect([...new Configuration().files]).toEqual([]);
  for (const [path, text] of files) writeFileSync(join(folder, path), text);
  const { status, stdout, stderr } = terraform(['fmt', '-check', '-diff']);
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  const labels = [...(files.get('main.tf') ?? '').matchAll(/^resource "tfe_workspace" "([^"]*)" \{$/gm)].map(
    ([, one]) => one,
  );
  expect(labels).toEqual(['a', 'a_2', 'a_b', '_1', '_', '__2', 'a_3', long, `_${digits}`]);
  expect([...files.keys()].sort()).toEqual(['imports.tf', 'main.tf', 'secrets.tf', 'secrets.tfvars.example']);
});
