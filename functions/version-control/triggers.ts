import type { Workspace } from '#resources/workspaces/records.ts';
import { type Regex, regexOf } from './regex.ts';

/** Determines which changes of a repository start a run (HCP Terraform: automatic run triggering). Pure. */

/** @throws {RegexError} */
export const matchesTag = (regex: string, tag: string): boolean => regexOf(regex)(tag);

const special = /[\\^$.|?*+()[\]{}]/g;

/** Translates a glob to an expression (regex.ts). */
const expressionOf = (pattern: string): string => {
  const text = pattern.replace(/^\/+/, '');
  let expression = '';
  for (let i = 0; i < text.length; ) {
    if (text.startsWith('**/', i)) {
      expression += '(?:[^/]+/)*';
      i += 3;
    } else if (text.startsWith('**', i)) {
      expression += '[\\s\\S]*';
      i += 2;
    } else {
      const char = text[i] ?? '';
      expression += char === '*' ? '[^/]*' : char === '?' ? '[^/]' : char.replace(special, '\\$&');
      i++;
    }
  }
  return expression;
};

const compiled = new Map<string, Regex>();

const regexOfPatterns = (patterns: string[]): Regex => {
  const key = JSON.stringify(patterns);
  const known = compiled.get(key);
  if (known) return known;
  if (compiled.size > 1000) compiled.clear();
  const made = regexOf(`^(?:${patterns.map(expressionOf).join('|')})$`);
  compiled.set(key, made);
  return made;
};

/** Text contained in every matching path: a quick filter, since most patterns name folders without changes. */
const literalOf = (pattern: string): string =>
  pattern
    .replace(/^\/+/, '')
    .split(/\*\*\/|[*?]/)
    .reduce((longest, part) => (part.length > longest.length ? part : longest), '');

const joined = new WeakMap<string[], string>();

const textOf = (paths: string[]): string => {
  const text = joined.get(paths) ?? paths.join('\n');
  joined.set(paths, text);
  return text;
};

export const matchesPatterns = (patterns: string[], paths: string[]): boolean => {
  const text = textOf(paths);
  const possible = patterns.filter((pattern) => text.includes(literalOf(pattern)));
  return possible.length > 0 && paths.some(regexOfPatterns(possible));
};

const bare = (directory: string): string => directory.replace(/^(\.?\/)+|\/+$/g, '');

const isRoot = (directory: string): boolean => ['', '.'].includes(bare(directory));

/** Compares whole segments: `mod` does not contain `modules/a.tf`. */
const contains = (directory: string, path: string): boolean => {
  const name = bare(directory);
  return isRoot(directory) || path === name || path.startsWith(`${name}/`);
};

type Settings = Pick<Workspace, 'fileTriggersEnabled' | 'triggerPatterns' | 'triggerPrefixes' | 'workingDirectory'>;

/** Directories whose changes start a run. A working directory that is the configuration's root is no filter. */
const directoriesOf = ({ triggerPrefixes, workingDirectory }: Settings): string[] => [
  ...triggerPrefixes,
  ...[workingDirectory ?? ''].filter((directory) => !isRoot(directory)),
];

/** Whether changed files determine whether a run starts. */
export const filters = (workspace: Settings): boolean =>
  workspace.fileTriggersEnabled && (workspace.triggerPatterns.length > 0 || directoriesOf(workspace).length > 0);

/** @param paths changed paths; undefined when unknown, which triggers every workspace */
export const isTriggeredBy = (workspace: Settings, paths: string[] | undefined): boolean => {
  if (!filters(workspace) || paths === undefined) return true;
  if (workspace.triggerPatterns.length > 0) return matchesPatterns(workspace.triggerPatterns, paths);
  return paths.some((path) => directoriesOf(workspace).some((directory) => contains(directory, path)));
};
