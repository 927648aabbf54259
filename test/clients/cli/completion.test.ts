import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type Command, optionsOf } from '#clients/cli/arguments.ts';
import { commands } from '#clients/cli/commands.ts';
import { completionScript, type Shell, shells } from '#clients/cli/completion.ts';

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

/** Bash's completions for the last word of each line, in one shell. */
const offeredFor = (lines: string[][]): string[][] => {
  const queries = lines.map(
    (words) => `COMP_WORDS=(stepform ${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length}
COMPREPLY=()
_stepform
printf '%s\\n' "\${COMPREPLY[@]}" ';'`,
  );
  const script = [completionScript('bash', commands), ...queries].join('\n');
  const text = execFileSync('bash', ['-c', script], { encoding: 'utf8' });
  return text.split(/^;\n/m).map((one) => one.split('\n').filter(Boolean));
};
const offered = (...words: string[]): string[] => offeredFor([words])[0] ?? [];

it.runIf(has('bash'))('bash completes commands, subcommands and options', () => {
  expect(offered('ru')).toEqual(['runs']);
  expect(offered('runs', 'st')).toEqual(['start']);
  expect(offered('runs', 'start', '--wat')).toEqual(['--watch']);
  expect(offered('open', '--work')).toEqual(['--workspace']);
  expect(offered('completion', 'z')).toEqual(['zsh']);
  expect(offered('nothing', '--')).toEqual([]);
});

it.runIf(has('bash'))('bash completes every command with every option', () => {
  const lines = commands.map(({ name }) => name.split(' '));
  const names = offeredFor(lines);
  const options = offeredFor(lines.map((words) => [...words, '--']));
  for (const [n, command] of commands.entries()) {
    expect(names[n]).toContain(lines[n]?.at(-1));
    expect(options[n]).toEqual(expect.arrayContaining(Object.keys(optionsOf(command)).map((option) => `--${option}`)));
  }
});

it.runIf(has('bash'))('bash completes the values of options with a fixed set', () => {
  expect(offered('runs', 'list', '--output', '')).toEqual(['table', 'json', 'csv']);
  expect(offered('workspaces', 'settings', '--auto-apply', 'o')).toEqual(['on', 'off']);
  expect(offered('workspaces', 'settings', '--description', 'o')).toEqual([]);
});

/** A terminal (util-linux): its input is treated as typed. */
const terminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

/** Fish's completions for a line, without their descriptions. */
const offeredByFish = (line: string): string[] => {
  const script = `${completionScript('fish', commands)}\ncomplete -C '${line}'`;
  const text = execFileSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' });
  return text.split('\n').flatMap((one) => (one ? [one.split('\t')[0] ?? ''] : []));
};

it.runIf(has('fish'))('fish completes commands, subcommands, options and their values', () => {
  expect(offeredByFish('stepform ru')).toEqual(['runs']);
  expect(offeredByFish('stepform runs sta')).toEqual(['start']);
  expect(offeredByFish('stepform runs start --wat')).toEqual(['--watch']);
  expect(offeredByFish('stepform completion z')).toEqual(['zsh']);
  expect(offeredByFish('stepform runs list --output ').sort()).toEqual(['csv', 'json', 'table']);
  for (const command of commands) {
    const { name } = command;
    const all = offeredByFish(`stepform ${name} --`);
    expect(all).toEqual(expect.arrayContaining(Object.keys(optionsOf(command)).map((option) => `--${option}`)));
  }
});

describe('the script', () => {
  const base = { isProgram: true, run: async () => undefined } as const;
  const kind = { about: 'a: or b', value: 'kind', short: 'k', choices: ['a', 'b'] };
  const few: Command[] = [
    { ...base, name: 'open', about: 'Open the page', options: { kind } },
    { ...base, name: 'things add', about: "Add a user's thing", options: { all: { about: 'all' } } },
    { ...base, name: 'things drop', about: 'Drop it' },
  ];
  const linesOf = (shell: Shell) =>
    completionScript(shell, few)
      .split('\n')
      .map((line) => line.trim());

  it('for bash has the long and short form of each option', () => {
    const words = linesOf('bash').filter((line) => / words='/.test(line) && !line.startsWith('if'));
    expect(words).toEqual([
      expect.stringContaining("words=''"),
      "--kind) words='a b' ;;",
      "open) words='--kind -k --help -h' ;;",
      "add) words='--all --help -h' ;;",
      "drop) words='--help -h' ;;",
      "help) words='' ;;",
      "version) words='' ;;",
      ...['bash', 'zsh', 'fish'].map((shell) => `${shell}) words='' ;;`),
    ]);
  });

  it('for zsh has commands, subcommands and options with their descriptions', () => {
    const lines = linesOf('zsh');
    const expected = String.raw`case $words[CURRENT-1] in
--kind) compadd -- a b; return ;;
esac
if (( CURRENT == 2 )); then items=('open:Open the page' 'things:add, drop' 'help:show help on a command' 'version:print the version' 'completion:print a script that completes commands in your shell'); else
case $words[2] in
open) items=('--kind:a\: or b' '--help:show this help') ;;
things)
if (( CURRENT == 3 )); then items=('add:Add a user'\''s thing' 'drop:Drop it'); else
case $words[3] in
add) items=('--all:all' '--help:show this help') ;;
drop) items=('--help:show this help') ;;
esac
fi ;;
help) items=() ;;`.split('\n');
    const first = lines.indexOf(expected[0] ?? '');
    expect(lines.slice(first, first + expected.length)).toEqual(expected);
  });

  it('for fish has the description, value, letter and choices of each option, and where it is offered', () => {
    const of = "complete -c stepform -n '__fish_seen_subcommand_from";
    const help = "-l help -s h -d 'show this help'";
    expect(linesOf('fish').slice(1, 10)).toEqual([
      'complete -c stepform -f',
      "complete -c stepform -n __fish_use_subcommand -a open -d 'Open the page'",
      `${of} open' -l kind -s k -r -f -a 'a b' -d 'a: or b'`,
      `${of} open' ${help}`,
      "complete -c stepform -n __fish_use_subcommand -a things -d 'add, drop'",
      `${of} things; and not __fish_seen_subcommand_from add drop' -a add -d 'Add a user'\\''s thing'`,
      `${of} things; and __fish_seen_subcommand_from add' -l all -d 'all'`,
      `${of} things; and __fish_seen_subcommand_from add' ${help}`,
      `${of} things; and not __fish_seen_subcommand_from add drop' -a drop -d 'Drop it'`,
    ]);
  });
});

/** The start files of each shell: they print the words of the command instead of running it, each in brackets. */
const starts = {
  bash: {
    file: 'rc',
    prepare: "PS1='ready> '\nbind 'set enable-bracketed-paste off'\n",
    command: (folder: string) => `bash --noprofile --rcfile '${join(folder, 'rc')}' -i`,
  },
  zsh: {
    file: '.zshrc',
    prepare: "PS1='ready> '\nunset zle_bracketed_paste\nautoload -Uz compinit && compinit -u -D\nsetopt no_beep\n",
    command: () => 'zsh -i',
  },
};

it.each(['bash', 'zsh'] as const)('%s completes in a terminal when the user presses Tab', async (shell) => {
  if (!terminal || !has(shell)) return;
  const folder = mkdtempSync(join(tmpdir(), 'completion-'));
  const { file, prepare, command } = starts[shell];
  const start = `stepform() { printf '<%s>' "$@"; echo; }\n${prepare}`;
  writeFileSync(join(folder, file), `${start}${completionScript(shell, commands)}`);
  const child = spawn('script', ['--quiet', '--return', '--command', command(folder), '/dev/null'], {
    cwd: folder,
    env: { ...process.env, TERM: 'dumb', HOME: folder, ZDOTDIR: folder },
  });
  let screen = '';
  child.stdout.on('data', (bytes) => (screen += bytes));
  try {
    await vi.waitFor(() => expect(screen).toContain('ready> '), { timeout: 30_000 });
    child.stdin.write('stepform runs sta\t\r');
    await vi.waitFor(() => expect(screen).toContain('<runs><start>'), { timeout: 30_000 });
    child.stdin.write('stepform variable-s\tli\t--out\tcs\t\r');
    await vi.waitFor(() => expect(screen).toContain('<variable-sets><list><--output><csv>'), { timeout: 30_000 });
    child.stdin.write('stepform workspaces \t\t');
    await vi.waitFor(() => expect(screen).toMatch(/create\s[\s\S]*delete\s[\s\S]*list\s[\s\S]*settings/), {
      timeout: 30_000,
    });
  } finally {
    const ended = once(child, 'close');
    child.kill();
    await ended;
    rmSync(folder, { recursive: true });
  }
});

it.each(shells)('the script for %s has no syntax error, if the shell is installed', (shell) => {
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
