import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JobVariable } from '#run/protocols/runner.ts';
import { PhaseError } from '#runner/program/errors.ts';
import { writeVariables } from '#runner/program/terraform/variables.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'variables-'));
});
afterEach(() => rm(folder, { recursive: true }));

const variable = (key: string, value: string, hcl = false): JobVariable =>
  ({ key, value, hcl, category: 'terraform', sensitive: false }) as JobVariable;

const written = async (...variables: JobVariable[]): Promise<[string, string][]> => {
  const paths = await writeVariables(folder, variables);
  return Promise.all(
    paths.map(async (path): Promise<[string, string]> => [basename(path), await readFile(path, 'utf8')]),
  );
};

it('variables are written to files in rising precedence, with the last value of each', async () => {
  const files = await written(
    variable('enforced', '"low"', true),
    variable('plain', 'a'),
    variable('z', '[1]', true),
    variable('plain-too', 'b'),
    variable('enforced', '"high"', true),
  );
  expect(files).toEqual([
    ['workspace.tfvars.json', '{"plain":"a"}'],
    ['z.tfvars', 'z = [1]\n'],
    ['workspace2.tfvars.json', '{"plain-too":"b"}'],
    ['enforced.tfvars', 'enforced = "high"\n'],
  ]);
});

it.each([
  '"x"\nother = "y"',
  '{\n  a = 1\n}\nother = 2',
  '<<E\nx\nE\nother = 1',
  '1 # one\nother = 2',
  '1\nblock {\n}',
  '1\na = 2',
])('an HCL value that sets more than its variable is rejected: %j', async (value) => {
  await expect(written(variable('a', value, true))).rejects.toThrow(/variable "a" is more than one expression/);
});

it.each([
  '{\n  a = 1\n  b = { c = "}\\n d = 2" }\n}',
  '[\n  1, # one = 1\n  2,\n]',
  '<<E\nother = "y"\nE',
  `"a ${'$'}{join("=", ["b"])}"`,
  '(\n  1 + 2\n)',
  ' true # yes\n',
])('an HCL value of several lines is accepted: %j', async (value) => {
  expect(await written(variable('a', value, true))).toHaveLength(1);
});

it('the error names a variable whose value is nested too deep', async () => {
  const value = `${'['.repeat(300)}${']'.repeat(300)}`;
  const error: Error = await written(variable('deep', value, true)).then(String, (thrown) => thrown);
  expect(error).toBeInstanceOf(PhaseError);
  expect(error.message).toMatch(/^The value of the HCL variable "deep" cannot be read: .*200 levels in line 1\.$/);
});
