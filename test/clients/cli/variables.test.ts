import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Command, parse } from '#clients/cli/arguments.ts';
import { declaredVariables, hasConfiguration, readCloudBlock } from '#clients/cli/cloud-block.ts';
import { findCommand } from '#clients/cli/commands.ts';
import { exit } from '#clients/cli/exit.ts';
import { programOf, version } from '#clients/cli/program.ts';
import { Session } from '#clients/cli/session.ts';
import { fileVariables, lastOfEach, runVariables } from '#clients/cli/variables.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepform-variables-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, content: string | object): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

describe('a file of variables', () => {
  it('keeps expressions as written', () => {
    const path = write(
      'eu.tfvars',
      '# where\nregion = "eu" // here\nzones = [\n  "a", # first\n  "b",\n]\ntext = <<EOT\na = b\nEOT\n',
    );
    expect(fileVariables([path])).toEqual([
      { key: 'region', value: '"eu"' },
      { key: 'zones', value: '[\n  "a", # first\n  "b",\n]' },
      { key: 'text', value: '<<EOT\na = b\nEOT' },
    ]);
  });

  it('in JSON has literal strings, including templates and control characters', () => {
    const values = { a: 'x$\x7by} %{z} $1', b: '\b\f\n\\b"', n: 5, none: null, deep: [{ k: '$\x7bk}' }] };
    expect(fileVariables([write('a.tfvars.json', values)])).toEqual([
      { key: 'a', value: '"x$${y} %%{z} $1"' },
      { key: 'b', value: String.raw`"\u0008\u000c\n\\b\""` },
      { key: 'n', value: '5' },
      { key: 'none', value: 'null' },
      { key: 'deep', value: '[{"k":"$${k}"}]' },
    ]);
  });

  it.each([
    ['broken.tfvars', 'a = 1\n= 2\n', 'line 2: give each variable as name = value'],
    ['empty.tfvars', 'a = 1\nb =\nc = 2\n', 'line 2: give each variable as name = value'],
    ['block.tfvars', 'a = 1\nb {\n}\n', 'line 2: give each variable as name = value'],
    ['twice.tfvars', 'a = 1\nb = 2\na = 3\n', 'line 3: give each variable once'],
    ['list.json', '[1]', 'is not a JSON object of variables'],
    ['broken.json', '{', 'is not a JSON object of variables'],
  ])('rejects %s with its location', (name, text, why) => {
    const path = write(name, text);
    expect(() => fileVariables([path])).toThrow(expect.objectContaining({ exitCode: exit.usage }));
    expect(() => fileVariables([path])).toThrow(why);
  });

  it('is overridden by later files and by the command line', () => {
    const one = write('one.tfvars', 'a = 1\nb = 1\nc = 1');
    const two = write('two.tfvars', 'b = 2\nc = 2');
    expect(lastOfEach([...fileVariables([one, two]), ...runVariables(['c=3'], folder)])).toEqual([
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
      { key: 'c', value: '"3"' },
    ]);
  });
});

describe('a configuration in JSON', () => {
  it('returns its workspace and the types of its variables', () => {
    write('main.tf.json', {
      terraform: [{ cloud: [{ hostname: 'h.example', organization: 'acme', workspaces: { name: 'network' } }] }],
      variable: { size: { type: 'number' }, zones: { type: 'list(string)' }, any: {} },
    });
    expect(hasConfiguration(folder)).toBe(true);
    expect(readCloudBlock(folder, {})).toEqual({ host: 'h.example', organization: 'acme', workspace: 'network' });
    expect([...declaredVariables(folder)]).toEqual([
      ['size', 'number'],
      ['zones', 'list(string)'],
      ['any', undefined],
    ]);
    expect(runVariables(['zones=["a"]', 'any=[1]'], folder).map(({ value }) => value)).toEqual(['["a"]', '"[1]"']);
  });

  it('can use the remote backend', () => {
    write('backend.tf.json', {
      terraform: { backend: { remote: { organization: 'acme', workspaces: { prefix: 'net-' } } } },
    });
    expect(readCloudBlock(folder, { TF_WORKSPACE: 'eu' })).toMatchObject({ organization: 'acme', workspace: 'net-eu' });
  });

  it('prints nothing when it is invalid', () => {
    write('main.tf.json', '{ "terraform": ');
    write('list.tf.json', '[1, null, {"terraform": null}]');
    expect(readCloudBlock(folder, {})).toEqual({ host: undefined, organization: undefined, workspace: undefined });
  });
});

it('help names the program as it was started', () => {
  const npx = { npm_command: 'exec', npm_lifecycle_script: "'stepform' runs list" };
  expect(programOf(npx)).toBe('npx stepform');
  expect(programOf({})).toBe('stepform');
  expect(programOf({ npm_command: 'exec', npm_lifecycle_script: 'vitest run' })).toBe('stepform');
  expect(programOf({ npm_command: 'run-script', npm_lifecycle_script: 'stepform runs start' })).toBe('stepform');
  expect(version()).toMatch(/^\d+\.\d+\.\d+/);
});

it.each([
  [['size=3'], 'variables set size 3'],
  [['size=3', '4'], 'variables set size 3'],
  [['password=a b', '--sensitive'], 'variables set password <value>'],
])('variables set %j names the right form', async (words, right) => {
  const { command } = findCommand(['variables', 'set']) as { command: Command };
  await expect(command.run(parse(command, words), new Session(parse(command, words)))).rejects.toMatchObject({
    exitCode: exit.usage,
    message: expect.stringContaining(right),
  });
});
