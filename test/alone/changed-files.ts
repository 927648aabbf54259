import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const git = (root: string, ...args: string[]): string | undefined => {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
};

/** A CI clone may have no branch to compare with: its latest commits are the change then. */
const latestCommits = 20;

/**
 * The base commit of the change: STEPFORM_CI_BASE, the merge base with main, or some commits ago; undefined without a
 * history.
 */
const baseOf = (root: string): string | undefined => {
  const named = process.env.STEPFORM_CI_BASE;
  const bases = [named, 'origin/main', 'main'].filter((name) => name !== undefined);
  const head = git(root, 'rev-parse', 'HEAD');
  const merged = bases.map((name) => git(root, 'merge-base', name, 'HEAD')).find((at) => at && at !== head);
  return merged ?? git(root, 'rev-parse', '--verify', '--quiet', `HEAD~${latestCommits}`);
};

/** Unit test files that the change adds or alters, including uncommitted ones. Undefined without a base commit. */
export const changedTests = (root: string): string[] | undefined => {
  const base = baseOf(root);
  const changed = base && git(root, 'diff', '--name-only', '--diff-filter=d', base, '--', 'test');
  if (changed === undefined) return undefined;
  const blackBox = /^test\/(e2e|attacks|clients\/web\/browser|version-control\/e2e)\//;
  return changed
    .split('\n')
    .filter((file) => file.endsWith('.test.ts') && !blackBox.test(file) && existsSync(join(root, file)));
};
