import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, it, vi } from 'vitest';
import { type Command, parse } from '#clients/cli/arguments.ts';
import { confirmByName } from '#clients/cli/confirm.ts';
import { exit } from '#clients/cli/exit.ts';
import { ignoreRules } from '#clients/cli/ignore.ts';
import { nearest } from '#clients/cli/nearest-word.ts';
import { reasonOf, withRetries } from '#clients/cli/network-timeout.ts';
import { startProgress } from '#clients/cli/progress.ts';
import { ofList, printList } from '#clients/cli/table.ts';
import { columns } from '#clients/cli/terminal.ts';
import { parseTerraformJson } from '#clients/cli/tf-json.ts';
import { ApiError } from '#clients/client/client.ts';

/** What commands print and read. */

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const command: Command = { name: 'things', about: '', options: ofList, run: async () => undefined };
const things = [
  { name: 'a', size: '1,5' },
  { name: 'long name', size: '=2' },
];
const printed = (args: string[], entries = things, values?: (one: (typeof things)[number]) => string[]): string => {
  const written: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  try {
    printList(parse(command, args), {
      headings: ['name', 'size'],
      entries,
      row: ({ name, size }) => [`\x1b[1m${name}\x1b[0m`, size],
      ...(values ? { values } : {}),
      json: { entries },
      none: 'No things.',
    });
  } finally {
    vi.restoreAllMocks();
  }
  return written.join('');
};
const [a, long] = ['\x1b[1ma\x1b[0m', '\x1b[1mlong name\x1b[0m'];

it('a list is printed as columns, as a table with a heading, or as CSV or JSON with complete values', () => {
  expect(printed([])).toBe(`${a}          1,5\n${long}  =2\n`);
  expect(printed(['--output', 'table'])).toBe(`NAME       SIZE\n${a}          1,5\n${long}  =2\n`);
  expect(printed(['--output', 'csv'])).toBe(`name,size\na,"1,5"\nlong name,'=2\n`);
  expect(printed(['--output', 'csv'], things, ({ name }) => [name, 'whole'])).toContain('a,whole\n');
  expect(JSON.parse(printed(['--output', 'json']))).toEqual({ entries: things });
  expect(JSON.parse(printed(['--json', '--output', 'json']))).toEqual({ entries: things });
});

it('a text of several lines is shown by their number', () => {
  expect(stripVTControlCharacters(printed([], [{ name: 'key', size: '-----BEGIN\nEND-----\n' }]))).toBe(
    'key  (2 lines)\n',
  );
  expect(printed(['--output', 'csv'], [{ name: 'key', size: 'a\nb' }])).toContain('"a\nb"');
});

it('columns fit the terminal: the widest are cut, with their colours', () => {
  const long = 'x'.repeat(60);
  const rows = columns([[`\x1b[1m${long}\x1b[0m`, 'applied', long]], 60);
  expect(rows[0]).toBe(`\x1b[1m${'x'.repeat(24)}…\x1b[0m  applied  ${'x'.repeat(23)}…`);
  expect(columns([['a', 'b']], 60)).toEqual(['a  b']);
  expect(columns([[long, long, long]], 10)).toEqual([
    Array(3)
      .fill(`${'x'.repeat(11)}…`)
      .join('  '),
  ]);
});

it('an empty list prints a message, but not as a table or CSV', () => {
  expect(printed([], [])).toBe('No things.\n');
  expect(printed(['--output', 'table'], [])).toBe('NAME  SIZE\n');
  expect(printed(['--output', 'csv'], [])).toBe('name,size\n');
});

it('an unknown output format, or two formats, are a usage error', () => {
  expect(() => printed(['--output', 'xml'])).toThrow('--output xml: give one of table, json, csv');
  expect(() => printed(['--json', '--output', 'csv'])).toThrow('cannot be combined');
});

it('columns are padded to their widest cell, except the last one', () => {
  expect(columns([['a', 'bb', 'c '], ['dddd', '', 'e'], ['f']])).toEqual(['a     bb  c', 'dddd      e', 'f']);
  expect(columns([['a', '', 'b']])).toEqual(['a    b']);
});

it.each([
  ['aply', 'apply'],
  ['appyl', 'apply'],
  ['di', 'discard'],
  ['dixcarx', 'discard'],
  ['d', undefined],
  ['cancle', 'cancel'],
  ['xyz', undefined],
  ['aplly-all', undefined],
  ['applied', undefined],
])('the nearest word to "%s" is %s', (typed, expected) => {
  expect(nearest(typed, ['apply', 'cancel', 'discard'])).toBe(expected);
});

it('a deletion without a terminal needs --yes', async () => {
  await expect(confirmByName('Delete it?', 'a')).rejects.toMatchObject({ exitCode: exit.usage, message: /--yes/ });
});

it.each([
  ['', 'a/.terraform/x', true],
  ['', '.terraform/modules/m/main.tf', false],
  ['', '.git/config', true],
  ['', 'main.tf', false],
  ['*.log', 'deep/a.log', true],
  ['/a.log', 'deep/a.log', false],
  ['/a.log', 'a.log', true],
  ['/a.log', 'a.logs', false],
  ['build', 'build/', true],
  ['build/', 'deep/build/x', true],
  ['a?c', 'abc', true],
  ['a?c', 'a/c', false],
  ['*.log\n!keep.log', 'keep.log', false],
  ['!keep.log\n*.log', 'keep.log', true],
  ['# *.tf\n\n', 'main.tf', false],
  ['a.b', 'aXb', false],
  ['deep/**/x', 'deep/er/est/x', true],
  ['deep/**/x', 'deep/x', true],
])('the rules %j exclude the file %s: %s', (rules, path, expected) => {
  expect(ignoreRules(rules).ignores(path)).toBe(expected);
});

it('blocks in JSON are parsed like those in HCL, and an invalid file has none', () => {
  const text = JSON.stringify({
    terraform: { cloud: { organization: 'acme', workspaces: { name: 'a' } } },
    variable: { size: { type: 'number' }, name: [{ default: 1 }] },
    resource: { a: {} },
  });
  const [terraform, size, name, ...rest] = parseTerraformJson(text);
  expect(terraform).toMatchObject({
    type: 'terraform',
    labels: [],
    blocks: [{ type: 'cloud', attributes: { organization: '"acme"' }, blocks: [{ type: 'workspaces' }] }],
  });
  expect([size, name]).toMatchObject([
    { type: 'variable', labels: ['size'], attributes: { type: '"number"' } },
    { type: 'variable', labels: ['name'], attributes: { default: '1' } },
  ]);
  expect(rest).toEqual([]);
  expect(parseTerraformJson('{')).toEqual([]);
  expect(parseTerraformJson('[{"terraform":{}},null,1]')).toHaveLength(1);
});

it('a watch retries after temporary errors, and reports them once', async () => {
  vi.useFakeTimers();
  const unreachable = new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
  const answers: (Error | string)[] = [
    unreachable,
    new ApiError('GET', '/', 503, ''),
    new ApiError('GET', '/', 429, ''),
    'done',
  ];
  const told: object[] = [];
  const ask = vi.fn(async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const watch = withRetries(ask, (event) => void told.push(event));
  await vi.runAllTimersAsync();
  expect(await watch).toBe('done');
  expect(ask).toHaveBeenCalledTimes(4);
  expect(told).toHaveLength(1);
});

it('a watch ends at permanent errors, when it is aborted, and after ten minutes', async () => {
  vi.useFakeTimers();
  const fails = (error: Error, signal?: AbortSignal) => {
    const ask = vi.fn(async () => Promise.reject(error));
    const watch = withRetries(ask, () => {}, signal).catch((caught: unknown) => caught);
    return { ask, watch };
  };
  const gone = fails(new ApiError('GET', '/', 404, ''));
  expect(await gone.watch).toBeInstanceOf(ApiError);
  expect(gone.ask).toHaveBeenCalledTimes(1);
  const aborted = fails(new ApiError('GET', '/', 500, ''), AbortSignal.abort());
  expect(await aborted.watch).toBeInstanceOf(ApiError);
  const began = Date.now();
  const patient = fails(new ApiError('GET', '/', 500, ''));
  await vi.runAllTimersAsync();
  expect(await patient.watch).toBeInstanceOf(ApiError);
  expect((Date.now() - began) / 60_000).toBeCloseTo(10, 0);
});

it('the reason of an unreachable server is the error code, otherwise the message', () => {
  const because = (cause?: object) => reasonOf(new TypeError('fetch failed', { cause }));
  expect([because({ code: 'ENOTFOUND', message: 'x' }), because({ message: 'closed' }), because()]).toEqual([
    'ENOTFOUND',
    'closed',
    'fetch failed',
  ]);
});

it('progress is one line on a terminal, which is cleared before other output; without a terminal there is none', () => {
  vi.useFakeTimers();
  const outputOf = (isTTY: boolean): string => {
    const out = Object.assign(new PassThrough(), { isTTY, columns: 20 });
    const progress = startProgress(out as unknown as NodeJS.WriteStream);
    progress.set('Planning');
    vi.advanceTimersByTime(3000);
    progress.print('stays');
    progress.set('Applying a very long configuration');
    vi.advanceTimersByTime(1000);
    progress.end();
    vi.advanceTimersByTime(5000);
    return String(out.read());
  };
  expect(outputOf(false)).toBe('stays\n');
  const shown = outputOf(true);
  const lines = shown.split('\r\x1b[2K');
  expect(lines.map((line) => stripVTControlCharacters(line))).toEqual([
    '',
    'Planning … 1 s',
    'Planning … 2 s',
    'Planning … 3 s',
    'stays\n',
    'Applying a very lon',
    '',
  ]);
});
