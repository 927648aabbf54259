import { RE2JS } from 're2js';
import type { Workspace } from '../workspaces/records.ts';

/** Which change of a repository starts a run (HCP Terraform: automatic run triggering). Pure. */

/** RE2 takes time linear in the text, whatever somebody writes. */
export const matchesTag = (regex: string, tag: string): boolean => RE2JS.compile(regex).matcher(tag).find();

const special = /[\\^$.|?*+()[\]{}]/g;

/** A glob as a RE2 expression for the whole path. */
const expressionOf = (pattern: string): string => {
  const text = pattern.replace(/^\/+/, '');
  let expression = '';
  for (let i = 0; i < text.length; ) {
    if (text.startsWith('**/', i)) {
      expression += '(?:[^/]+/)*';
      i += 3;
    } else if (text.startsWith('**', i)) {
      expression += '.*';
      i += 2;
    } else {
      const char = text[i] ?? '';
      expression += char === '*' ? '[^/]*' : char === '?' ? '[^/]' : char.replace(special, '\\$&');
      i++;
    }
  }
  return expression;
};

const compiled = new Map<string, RE2JS>();

const matcherOf = (patterns: string[]): RE2JS => {
  const key = JSON.stringify(patterns);
  const known = compiled.get(key);
  if (known) return known;
  if (compiled.size > 1000) compiled.clear();
  const made = RE2JS.compile(`^(?:${patterns.map(expressionOf).join('|')})$`, RE2JS.DOTALL);
  compiled.set(key, made);
  return made;
};

export const matchesPatterns = (patterns: string[], paths: string[]): boolean => {
  const matcher = matcherOf(patterns);
  return paths.some((path) => matcher.matches(path));
};

const bare = (directory: string): string => directory.replace(/^(\.?\/)+|\/+$/g, '');

/** By whole segments: `mod` does not contain `modules/a.tf`. */
const contains = (directory: string, path: string): boolean => {
  const name = bare(directory);
  return name === '' || name === '.' || path === name || path.startsWith(`${name}/`);
};

type Settings = Pick<Workspace, 'fileTriggersEnabled' | 'triggerPatterns' | 'triggerPrefixes' | 'workingDirectory'>;

/** Whether it matters which files changed. */
export const filters = (workspace: Settings): boolean =>
  workspace.fileTriggersEnabled &&
  (workspace.triggerPatterns.length > 0 || workspace.triggerPrefixes.length > 0 || Boolean(workspace.workingDirectory));

/** @param paths that changed; undefined when nobody knows, which concerns everybody */
export const concerns = (workspace: Settings, paths: string[] | undefined): boolean => {
  if (!filters(workspace) || paths === undefined) return true;
  if (workspace.triggerPatterns.length > 0) return matchesPatterns(workspace.triggerPatterns, paths);
  const directories = [
    ...workspace.triggerPrefixes,
    ...(workspace.workingDirectory ? [workspace.workingDirectory] : []),
  ];
  return paths.some((path) => directories.some((directory) => contains(directory, path)));
};
