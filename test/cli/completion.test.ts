import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../functions/cli/commands.ts';
import { completionScript, shells } from '../../functions/cli/completion.ts';

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

/** What bash offers for the last of these words. */
const offered = (...words: string[]): string[] => {
  const script = `${completionScript('bash', commands)}
COMP_WORDS=(stepform ${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length}
_stepform
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\n').filter(Boolean);
};

it.runIf(has('bash'))('bash completes commands, those of a group, and options of each', () => {
  expect(offered('ru')).toEqual(['runs']);
  expect(offered('runs', 'st')).toEqual(['start']);
  expect(offered('runs', 'start', '--wat')).toEqual(['--watch']);
  expect(offered('open', '--work')).toEqual(['--workspace']);
  expect(offered('completion', 'z')).toEqual(['zsh']);
  expect(offered('nothing', '--')).toEqual([]);
});

it.runIf(has('bash'))('bash completes every command with every option', () => {
  for (const { name, options = {} } of commands) {
    expect(offered(...name.split(' ').slice(0, -1), name.split(' ').at(-1) as string)).toContain(
      name.split(' ').at(-1),
    );
    const all = offered(...name.split(' '), '--');
    expect(all).toEqual(expect.arrayContaining([...Object.keys(options).map((option) => `--${option}`), '--json']));
  }
});

it.each(shells)('the script for %s has no syntax error where that shell is installed', (shell) => {
  const script = completionScript(shell, commands);
  expect(script).toContain('stepform');
  if (!has(shell)) return;
  const folder = mkdtempSync(join(tmpdir(), 'completion-'));
  const file = join(folder, 'script');
  writeFileSync(file, script);
  const checked = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect([checked.status, checked.stderr]).toEqual([0, '']);
});
