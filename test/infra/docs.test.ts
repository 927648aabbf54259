import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from '#clients/cli/arguments.ts';
import { findCommand } from '#clients/cli/commands.ts';
import { anchorOf } from '#infra/docs/site/markdown.ts';

/** The documents for users name only existing files, headings, scripts, commands and options. */

const root = join(import.meta.dirname, '../..');
const inFolder = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...inFolder('infra/docs'),
  ...inFolder('infra/docs/tutorials'),
  ...inFolder('infra/changes'),
];
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

const withoutBlocks = (text: string): string => text.replace(/```[\s\S]*?```/g, '');
const blocksOf = (text: string): string[] =>
  [...text.matchAll(/```[^\n]*\n([\s\S]*?)```/g)].map(([, block = '']) => block);

const anchorsOf = (path: string): Set<string> => {
  const headings = [...withoutBlocks(readFileSync(path, 'utf8')).matchAll(/^#+ (.*)$/gm)];
  return new Set(headings.map(([, heading = '']) => anchorOf(heading)));
};

it.each([...documents, ...inFolder('infra/decisions')])('links of %s lead to files and headings', (path) => {
  const links = [...withoutBlocks(textOf(path)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const broken = links.filter((link) => {
    if (/^(https?|mailto):/.test(link)) return false;
    const [file, anchor] = link.split('#');
    const target = resolve(root, dirname(path), file || path.slice(path.lastIndexOf('/') + 1));
    return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).has(anchor));
  });
  expect(broken).toEqual([]);
});

it.each(documents)('npm scripts in %s exist', (path) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const named = [...textOf(path).matchAll(/npm run (?:-\w+ )?([a-z][a-z0-9:-]*)/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

/** The commands of the examples: at the start of a line, or after a prompt, `&&`, `|` or `||`; without redirections. */
const commandsIn = (text: string): string[] =>
  blocksOf(text).flatMap((block) =>
    block
      .replaceAll(/\\\n\s*/g, ' ')
      .split('\n')
      .flatMap((line) => line.replace(/\s# .*| {2,}#.*/, '').split(/\s(?:&&|\|\|?|>)\s/))
      .flatMap((line) => /^\s*(?:\$ )?(?:npx )?stepform (.+)$/.exec(line)?.[1] ?? []),
  );

const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare ?? '');

it.each(documents)('commands in %s have the named options', (path) => {
  for (const command of commandsIn(textOf(path))) {
    const match = findCommand(wordsOf(command));
    expect(match, command).toBeDefined();
    if (match) expect(() => parse(match.command, match.rest), command).not.toThrow();
  }
});

it('README and unsupported API name the same number of operations', () => {
  const [figure = ''] = /\d+ of the \d+ operations/.exec(textOf('infra/docs/not-served.md')) ?? [];
  expect(textOf('README.md')).toContain(figure);
  expect(figure).not.toBe('');
});

it('each row of "reachable for a run" in security.md names existing tests', () => {
  const lines = textOf('infra/docs/security.md').split('\n');
  const first = lines.findIndex((line) => line.startsWith('| reachable for a run |')) + 2;
  const table = lines.slice(first, lines.indexOf('', first));
  expect(table.length).toBeGreaterThan(10);
  for (const line of table) {
    const named = [...(line.split(' | ').at(-1) ?? '').matchAll(/`([^`]+)`/g)].map(
      ([, name]) => `test/${name}.test.ts`,
    );
    expect(named, line).not.toEqual([]);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  }
});
