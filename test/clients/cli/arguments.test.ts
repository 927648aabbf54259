import { expect, it } from 'vitest';
import { type Command, ofWatch, ofWorkspace, parse, timeoutOf } from '#clients/cli/arguments.ts';
import { commands, findCommand } from '#clients/cli/commands.ts';
import { exit } from '#clients/cli/exit.ts';
import { commandHelp } from '#clients/cli/help.ts';

const command: Command = {
  name: 'runs start',
  about: 'Start a run',
  takes: '<folder> [name]',
  options: {
    message: { about: 'why', value: 'text', short: 'm' },
    target: { about: 'only this', value: 'address', multiple: true },
    watch: { about: 'follow it' },
    ...ofWorkspace,
  },
  run: async () => undefined,
};

const usageOf = (args: string[]): string => {
  try {
    parse(command, args);
  } catch (error) {
    expect(error).toMatchObject({ exitCode: exit.usage });
    return (error as Error).message;
  }
  throw new Error('it was taken');
};

it('options are accepted before and after arguments, short, repeated, and with one dash like Terraform’s', () => {
  const call = parse(command, ['-m', 'a b', '.', '--target', 'a.b', '-target=c["d"]', '-watch', '--', '-x']);
  expect(call.text('message')).toBe('a b');
  expect(call.texts('target')).toEqual(['a.b', 'c["d"]']);
  expect(call.flag('watch')).toBe(true);
  expect(call.flag('json')).toBe(false);
  expect([call.word(0), call.word(1)]).toEqual(['.', '-x']);
  expect(parse(command, ['--', '-watch']).words).toEqual(['-watch']);
  const deploy = commands.find(({ name }) => name === 'deploy') as Command;
  expect(parse(deploy, ['-c', 'a=1', '-c', 'b=2']).texts('context')).toEqual(['a=1', 'b=2']);
});

it.each([
  [['.', '--mesage', 'x'], 'has no option --mesage. Did you mean --message?'],
  [['.', '--frobnicate'], 'has no option --frobnicate. See: stepform runs start --help'],
  [['.', '--message'], '--message needs a value: --message <text>'],
  [['.', '--watch=yes'], '--watch takes no value'],
  [[], 'Missing argument <folder>: stepform runs start <folder> [name]'],
  [['a', 'b', 'c'], 'Unexpected argument "c": stepform runs start takes <folder> [name]'],
])('a wrong argument is a usage error: %j: %s', (args, message) => {
  expect(usageOf(args)).toContain(message);
});

it('an argument of a command without any is a usage error', () => {
  expect(() => parse({ ...command, takes: undefined } as never, ['a'])).toThrow('takes no arguments');
});

it.each([
  ['runs start', 'target replace var var-file'],
  ['runs start', 'watch wait plan-only destroy refresh-only auto-apply no-refresh latest'],
])('%s takes %s', (name, words) => {
  const { command: one } = findCommand(name.split(' ')) as { command: Command };
  for (const word of words.split(' ')) {
    const isFlag = one.options?.[word]?.value === undefined;
    const call = parse(one, isFlag ? [`--${word}`] : [`--${word}`, 'a=1', `-${word}`, 'b=2']);
    expect(isFlag ? call.flag(word) : call.texts(word), word).toEqual(isFlag || ['a=1', 'b=2']);
  }
});

it('options that a separate program would ignore are rejected', () => {
  const start = findCommand(['start', '--json']);
  expect(() => start && parse(start.command, start.rest)).toThrow('stepform start has no option --json');
});

it('a missing required argument is a usage error that shows the usage', () => {
  expect(parse(command, ['--help']).flag('help')).toBe(true);
});

it.each([
  [['runs', 'lst'], 'stepform runs list'],
  [['run', 'list'], 'stepform runs'],
  [['variable'], 'stepform variables'],
  [['workspaces', 'frobnicate'], 'See: stepform workspaces --help'],
  [['token', 'crate'], 'Unknown command: stepform token crate.'],
  [['frobnicate'], 'See: stepform --help'],
  [['confirm', '-w', 'net'], 'Did you mean: stepform runs confirm'],
])('%j is not a command: %s', (args, advice) => {
  expect(() => findCommand(args)).toThrow(advice);
});

it('commands of one and two words are found, and groups', () => {
  expect(findCommand(['lock', '-w', 'a'])).toMatchObject({ command: { name: 'lock' }, rest: ['-w', 'a'] });
  expect(findCommand(['state', 'pull', '7'])).toMatchObject({ command: { name: 'state pull' }, rest: ['7'] });
  expect(findCommand(['state'])).toBeUndefined();
  expect(findCommand(['state', '--help'])).toBeUndefined();
});

it('every command that sends requests has --json, and each option has one meaning', () => {
  for (const one of commands) {
    expect(commandHelp(one)).not.toContain('undefined');
    expect(commandHelp(one).includes('--json')).toBe(!one.isProgram || 'json' in (one.options ?? {}));
    const shorts = Object.values(one.options ?? {}).flatMap(({ short }) => short ?? []);
    expect(new Set(shorts).size).toBe(shorts.length);
    expect(shorts).not.toContain('h');
  }
});

it.each([
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['576h', 2_073_600_000],
])('--timeout %s is %i ms', (text, ms) => {
  expect(timeoutOf(parse({ ...command, options: ofWatch }, ['.', '--timeout', text]))).toBe(ms);
});

it.each(['30', '0s', '577h', '-1m', 'soon'])('--timeout %s is a usage error', (text) => {
  const call = parse({ ...command, options: ofWatch }, ['.', `--timeout=${text}`]);
  expect(() => timeoutOf(call)).toThrow(`--timeout ${text}: give a number with s, m or h`);
});
