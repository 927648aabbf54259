import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exit } from '#clients/cli/exit.ts';
import { newName, organization, platform } from './support/world.ts';

/** The command line in a folder with Terraform files, without a terminal as in CI. */

const command = fileURLToPath(new URL('../../functions/clients/cli/stepform.mjs', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'stepform-command-'));
const workspace = newName('command');
const cloud = `terraform {
  cloud {
    organization = "${organization}"
    workspaces {
      name = "${workspace}"
    }
  }
}
`;
const good = `variable "n" {}
variable "secret" {
  sensitive = true
}
module "part" {
  source = "./part"
}
resource "terraform_data" "a" {
  input = var.n
}
output "n" {
  value = terraform_data.a.output
}
output "secret" {
  value     = var.secret
  sensitive = true
}
`;
const broken = 'resource "terraform_data" "a" {\n  input = nothing.here\n}\n';

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

interface Settings {
  folder?: string;
  input?: string;
  /** Ctrl-C is sent once this was printed. */
  interruptAt?: string;
}

const start = (program: string, words: string[], folder = 'good', env: Record<string, string> = {}) => {
  const child = spawn(program, words, {
    cwd: join(root, folder),
    env: {
      PATH: process.env.PATH,
      HOME: root,
      TFE_ADDRESS: platform.url,
      // Hides the platform of the checkout.
      STEPFORM_DATA: join(root, 'none'),
      ...env,
    },
  });
  // A program that has exited does not read its input.
  child.stdin.on('error', () => {});
  return child;
};

type Child = ReturnType<typeof start>;

const whenItSays = (child: Child, words: string, then: () => void): void => {
  let output = '';
  child.stdout.on('data', (part: Buffer) => {
    const before = output.includes(words);
    output += part;
    if (!before && output.includes(words)) then();
  });
};

const end = async (child: Child): Promise<Ended> => {
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, out, err };
};

const stepform = (words: string[], { folder, input = '', interruptAt }: Settings = {}): Promise<Ended> => {
  const child = start(process.execPath, [command, ...words], folder);
  child.stdin.end(input);
  if (interruptAt) whenItSays(child, interruptAt, () => child.kill('SIGINT'));
  return end(child);
};

const succeed = async (words: string[], input?: string): Promise<string> => {
  const { code, out, err } = await stepform(words, { input });
  expect({ code, err: code ? err + out : '' }).toEqual({ code: 0, err: '' });
  return out;
};

const json = async (words: string[]) => JSON.parse(await succeed([...words, '--json']));

beforeAll(() => {
  for (const [folder, main] of [
    ['good', good],
    ['broken', broken],
  ] as const) {
    mkdirSync(join(root, folder));
    writeFileSync(join(root, folder, 'cloud.tf'), cloud);
    writeFileSync(join(root, folder, 'main.tf'), main);
  }
  mkdirSync(join(root, 'good/part'));
  writeFileSync(join(root, 'good/part/main.tf'), '');
  writeFileSync(join(root, 'good/ignored.tf'), broken);
  writeFileSync(join(root, 'good/.terraformignore'), 'ignored.tf\n');
});
afterAll(() => rmSync(root, { recursive: true }));

it('stepform signs in, starts, watches and confirms a run; scripts get states, outputs and exit codes', async () => {
  const unknown = await stepform(['whoami']);
  expect(unknown).toMatchObject({ code: exit.notAllowed, err: expect.stringContaining('stepform login') });
  const refused = await stepform(['login'], { input: 'sfu_wrong\n' });
  expect(refused).toMatchObject({ code: exit.notAllowed, err: expect.stringContaining('Invalid token') });
  expect(await succeed(['login'], `${platform.token}\n`)).toContain('Signed in to');
  const credentials = join(root, '.terraform.d', 'credentials.tfrc.json');
  expect(statSync(credentials).mode & 0o777).toBe(0o600);
  expect(readFileSync(credentials, 'utf8')).toContain(platform.token);

  const none = await stepform(['runs', 'start']);
  expect(none).toMatchObject({ code: exit.notFound, err: expect.stringContaining(`workspaces create ${workspace}`) });
  await succeed(['workspaces', 'create', workspace]);
  await succeed(['variables', 'set', 'secret', '--sensitive'], 'hunter2\n');
  const argued = await stepform(['variables', 'set', 'secret', 'hunter2']);
  expect(argued).toMatchObject({
    code: exit.usage,
    err: expect.stringContaining('Don’t give a sensitive value as an argument'),
  });
  expect(await succeed(['variables', 'list'])).toMatch(/^secret +\(sensitive\)$/m);

  const planned = await stepform(['runs', 'start', '--watch', '-m', 'First', '--var', 'n=a "b"']);
  expect(planned).toMatchObject({ code: exit.needsPerson, out: expect.stringContaining('Needs Confirmation') });
  expect(planned.out).toContain('# terraform_data.a will be created');
  expect(planned.out).toMatch(/✓ Plan +[\d.]+ s {2}1 to add, 0 to change, 0 to destroy/);
  expect(planned.out).not.toContain('\x1b');
  const [, id = ''] = /stepform runs confirm (run-\w+)/.exec(planned.out) ?? [];

  const left = await stepform(['runs', 'watch', '--wait'], { interruptAt: '✓ Plan' });
  const goesOn = expect.stringMatching(/The run (continues|is still waiting for a decision)/);
  expect(left).toMatchObject({ code: exit.interrupted, err: goesOn });

  const waiting = await succeed(['status']);
  expect(waiting).toMatch(new RegExp(`Waiting for you\\n.* {2}${workspace} +Needs Confirmation [^\\n]* First`, 's'));
  expect(waiting).not.toMatch(new RegExp(`Waiting for others\\n( .*\\n)* {2}${workspace} `));
  const unnamed = await stepform(['runs', 'confirm']);
  expect(unnamed).toMatchObject({ code: exit.usage, err: expect.stringContaining('--workspace <name>') });
  const applied = await stepform(['runs', 'confirm', '-w', workspace, '--watch', '-m', 'Looks good']);
  expect(applied).toMatchObject({ code: exit.done, out: expect.stringContaining('Apply complete!') });
  expect(applied.out).not.toContain('will be created');
  expect((await json(['runs', 'show'])).data.attributes).toMatchObject({ status: 'applied', message: 'First' });
  const shown = await succeed(['runs', 'show']);
  expect(shown).toMatch(
    new RegExp(`${organization}/${workspace}, queued (just now|\\d+ \\w+ ago) by \\S+ from the command line`),
  );
  expect(shown, 'an applied run needs no next step').not.toMatch(/\n\n$/);
  expect(await succeed(['status'])).not.toContain(` ${workspace} `);
  const logs = await succeed(['runs', 'logs']);
  expect(logs).toMatch(/will be created.*Apply complete!/s);
  expect(await succeed(['runs', 'logs', '--phase', 'apply'])).not.toContain('will be created');
  const late = await stepform(['runs', 'discard', id]);
  expect(late).toMatchObject({ code: exit.notNow, err: expect.stringContaining('has status Applied') });

  expect(await succeed(['state', 'outputs'])).toBe('n = "a \\"b\\""\nsecret = (sensitive)\n');
  expect(await succeed(['state', 'outputs', 'secret'])).toBe('hunter2\n');
});

it('stepform pulls and pushes states, and rolls back', async () => {
  const [first] = (await json(['state', 'list'])).data;
  const state = JSON.parse(await succeed(['state', 'pull']));
  expect(state.serial).toBe(first.attributes.serial);
  const next = { ...state, serial: state.serial + 1, outputs: {} };
  await succeed(['state', 'push', '-'], JSON.stringify(next));
  expect(await succeed(['state', 'outputs'])).toContain('No outputs');
  const older = await stepform(['state', 'push', '-'], { input: JSON.stringify({ ...next, serial: 0 }) });
  expect(older.code).toBe(exit.notNow);
  const text = await stepform(['state', 'push', '-'], { input: 'serial = 1' });
  expect(text).toMatchObject({ code: exit.usage, err: expect.stringContaining('- is not JSON') });
  await succeed(['state', 'rollback', String(state.serial)]);
  expect(JSON.parse(await succeed(['state', 'pull'])).outputs).toEqual(state.outputs);
  // Each command has released the lock.
  await succeed(['lock', '--reason', 'hands off']);
  const again = await stepform(['lock']);
  expect(again).toMatchObject({
    code: exit.notNow,
    err: expect.stringMatching(/locked by User \S+ since .* \(hands off\)/),
  });
  expect(await succeed(['workspaces', 'list'])).toMatch(/locked by \S+ just now: hands off/);
  await succeed(['unlock']);
});

it('stepform prints an errored run as JSON lines, and exits with its code', async () => {
  const { code, out } = await stepform(['runs', 'start', '--watch', '--json'], { folder: 'broken' });
  const events = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(code).toBe(exit.errored);
  expect(events[0]).toMatchObject({ event: 'run', id: expect.stringMatching(/^run-/) });
  const log = events.filter(({ event }) => event === 'log').map(({ line }) => line);
  expect(log.join('\n')).toContain('Reference to undeclared resource');
  expect(log.join('\n')).not.toContain('\x1b');
  expect(events.findLastIndex(({ phase }) => phase === 'plan')).toBeLessThan(
    events.findIndex(({ stage }) => stage === 'Plan'),
  );
  expect(events.find(({ stage }) => stage === 'Plan')).toMatchObject({ state: 'failed' });
  expect(events.at(-1)).toMatchObject({ event: 'end', name: 'Plan Errored', 'exit-code': code });
  const missing = await stepform(['runs', 'show', 'run-0000000000000000', '--json']);
  expect(missing.code).toBe(exit.notFound);
  expect(JSON.parse(missing.out)).toMatchObject({ errors: [{ status: '404' }], 'exit-code': exit.notFound });
});

it('stepform reports a truncated list, the workspace it guessed, and how to retry', async () => {
  const part = await stepform(['runs', 'list', '--limit', '1']);
  expect(part).toMatchObject({
    code: exit.done,
    err: expect.stringContaining('There are more runs. List them with --limit 5'),
  });
  expect((await json(['runs', 'list', '--limit', '1'])).meta).toEqual({ more: true });
  expect((await stepform(['workspaces', 'list'])).err).toBe('');
  const typo = await stepform(['runs', 'list', '--workspace', `${workspace}x`]);
  expect(typo).toMatchObject({ code: exit.notFound, err: expect.stringContaining(`Did you mean ${workspace}?`) });
  const [{ id: failed }] = (await json(['runs', 'list', '--status', 'errored'])).data;
  expect(await succeed(['runs', 'show', failed])).toContain(`runs start --workspace ${workspace}`);
});

/** A terminal (util-linux): its input is treated as typed. */
const terminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

it.runIf(terminal)('stepform asks before it applies in a terminal, with colors and progress', async () => {
  const typed = `'${process.execPath}' '${command}' runs start --watch --destroy --var n=1`;
  const child = start('script', ['--quiet', '--return', '--command', typed, '/dev/null'], 'good', { TERM: 'xterm' });
  whenItSays(child, 'Apply these changes?', () => child.stdin.write('yes\r'));
  const { code, out } = await end(child);
  expect(stripVTControlCharacters(out)).toMatch(/Apply these changes\? This destroys 1 resource\./);
  expect(out).toContain('\x1b[32m✓\x1b[39m Apply');
  expect({ code, out }).toEqual({ code: exit.done, out: expect.stringContaining('Apply complete!') });
});

it.runIf(terminal)('stepform ignores input typed before a question', async () => {
  const typed = `'${process.execPath}' '${command}' runs start --watch --var n=2`;
  const child = start('script', ['--quiet', '--return', '--command', typed, '/dev/null'], 'good', { TERM: 'xterm' });
  whenItSays(child, 'Pending', () => child.stdin.write('yes\ryes\r'));
  whenItSays(child, 'Apply these changes?', () => child.stdin.write('discard\r'));
  const { code, out } = await end(child);
  expect({ code, out }).toEqual({ code: exit.discarded, out: expect.not.stringContaining('Apply complete!') });
});
