import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { parse } from '#clients/cli/arguments.ts';
import { findCommand } from '#clients/cli/commands.ts';
import { Session } from '#clients/cli/session.ts';
import { maxStateBytes } from '#run/limits.ts';

/** What `stepform state outputs` prints, and what `state push` refuses. */

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

const certificate = `-----BEGIN CERTIFICATE-----\n${'MIIB\n'.repeat(19)}-----END CERTIFICATE-----\n`;
const output = (name: string, value: unknown, others: object = {}) => ({
  id: `wsout-${name}`,
  type: 'state-version-outputs',
  attributes: { name, value, sensitive: false, ...others },
});
const outputs = [
  output('address', '10.0.0.1\u001b[2J'),
  output('certificate', certificate),
  output('large', null, { 'omitted-bytes': 7_000_000 }),
  output('ports', [80, 443]),
  output('secret', null, { sensitive: true }),
];
const stored: Record<string, object> = {
  '/api/v2/organizations/acme/workspaces/net': { id: 'ws-1', type: 'workspaces', attributes: { name: 'net' } },
  '/api/v2/workspaces/ws-1/current-state-version-outputs': outputs,
  ...Object.fromEntries(outputs.map((one) => [`/api/v2/state-version-outputs/${one.id}`, one])),
};

const printed = async (...args: string[]): Promise<string> => perform('outputs', ...args);

const perform = async (...args: string[]): Promise<string> => {
  vi.stubEnv('TFE_ADDRESS', 'https://tfe.example');
  vi.stubEnv('TFE_TOKEN', 'of-env');
  vi.stubGlobal(
    'fetch',
    vi.fn(async (url: string) => Response.json({ data: stored[new URL(url).pathname] })),
  );
  let text = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((part) => {
    text += part;
    return true;
  });
  const match = findCommand(['state', ...args, '--organization', 'acme', '--workspace', 'net']);
  if (!match) throw new Error('no command');
  const call = parse(match.command, match.rest);
  await match.command.run(call, new Session({ text: (name) => call.text(name) }));
  return text;
};

it('outputs are shown in a line each, a certificate by the number of its lines', async () => {
  expect(stripVTControlCharacters(await printed()).split('\n')).toEqual([
    expect.stringMatching(/^address = "10\.0\.0\.1.*"$/),
    'certificate = (21 lines)',
    expect.stringMatching(/^large = \(.* MB, shown by name\)$/),
    'ports = [80,443]',
    'secret = (sensitive)',
    '',
  ]);
});

it('an output is printed whole by its name, and in JSON', async () => {
  expect(await printed('certificate')).toBe(`${certificate}\n`);
  expect(JSON.parse(await printed('--json')).data[1].attributes.value).toBe(certificate);
});

const folder = mkdtempSync(join(tmpdir(), 'stepform-states-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['too large', maxStateBytes + 1, /has 67.* MB; a state has at most/],
  ['not JSON', 10, /a\.tfstate is not JSON: /],
])('a file that is %s is refused before anything is sent', async (_, bytes, message) => {
  const file = join(folder, 'a.tfstate');
  writeFileSync(file, '');
  truncateSync(file, bytes);
  await expect(perform('push', file)).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(message) });
  expect(vi.mocked(fetch)).not.toHaveBeenCalled();
});
