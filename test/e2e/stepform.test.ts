import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exit } from '#clients/cli/exit.ts';
import { client, newName, organization, platform } from './support/world.ts';

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
const slow = `resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "sleep 100"
  }
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

/** A terminal (util-linux): its input is treated as typed. */
const terminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;
const inTerminal = (words: string, folder?: string) => {
  // The shell in between would also be interrupted by Ctrl-C, and exit in place of the program.
  const typed = `exec '${process.execPath}' '${command}' ${words}`;
  return start('script', ['--quiet', '--return', '--command', typed, '/dev/null'], folder, { TERM: 'xterm' });
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
    ['slow', slow],
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
  const { host } = new URL(platform.url);
  expect(unknown).toEqual({
    code: exit.notAllowed,
    out: '',
    err: `✗ No token for ${host}. Sign in: stepform login ${host}.\n`,
  });
  const revoked = await end(start(process.execPath, [command, 'whoami'], 'good', { TFE_TOKEN: 'sfu_revoked' }));
  expect(revoked).toEqual({
    code: exit.notAllowed,
    out: '',
    err: `✗ TFE_TOKEN is not a valid token for ${host}. Set another one, or unset it and sign in: stepform login ${host}\n`,
  });
  const refused = await stepform(['login'], { input: 'sfu_wrong\n' });
  expect(refused).toMatchObject({ code: exit.notAllowed, err: expect.stringContaining('Invalid token') });
  const credentials = join(root, '.terraform.d', 'credentials.tfrc.json');
  expect(await succeed(['login'], `${platform.token}\n`)).toMatch(
    new RegExp(`^Signed in to ${host} as \\S+\\. Token stored in ${credentials}, shared with terraform\\.\n$`),
  );
  expect(statSync(credentials).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(credentials)).mode & 0o777).toBe(0o700);
  expect(readFileSync(credentials, 'utf8')).toContain(platform.token);

  const none = await stepform(['runs', 'start']);
  expect(none).toMatchObject({
    code: exit.notFound,
    err: expect.stringMatching(
      new RegExp(
        `^✗ Workspace ${organization}/${workspace} not found, .* Create it: stepform workspaces create ${workspace}\n$`,
      ),
    ),
  });
  expect(await succeed(['workspaces', 'create', workspace])).toBe(
    `Workspace ${organization}/${workspace} created. Start a run: stepform runs start <folder> --workspace ${workspace}\n`,
  );
  expect(await succeed(['variables', 'set', 'secret', '--sensitive'], 'hunter2\n')).toBe(
    `Variable secret created in ${workspace}. New runs use it.\n`,
  );
  const argued = await stepform(['variables', 'set', 'secret', 'hunter2']);
  expect(argued).toMatchObject({
    code: exit.usage,
    err: expect.stringContaining('Don’t give a sensitive value as an argument'),
  });
  expect(await succeed(['variables', 'list'])).toBe('secret  (sensitive)\n');

  const planned = await stepform(['runs', 'start', '--watch', '-m', 'First', '--var', 'n=a "b"']);
  expect(planned).toMatchObject({
    code: exit.needsPerson,
    err: expect.stringMatching(/^Uploading this folder \(\d+ B packed\)\n$/),
  });
  expect(planned.out).toContain('# terraform_data.a will be created');
  expect(planned.out).not.toContain('\x1b');
  const [, id = ''] = /stepform runs confirm (run-\w+)/.exec(planned.out) ?? [];
  const head = `First  ${id} in ${organization}/${workspace}\n${platform.url}/app/${organization}/workspaces/${workspace}/runs/${id}\n\n`;
  expect(planned.out.slice(0, head.length)).toBe(head);
  const next = `  Apply    stepform runs confirm ${id}\n  Discard  stepform runs discard ${id}\n`;
  expect(planned.out).toMatch(
    new RegExp(`\n✓ Plan +[\\d.]+ s {2}1 to add, 0 to change, 0 to destroy\n\nNeeds Confirmation\n\n${next}$`),
  );

  const left = await stepform(['runs', 'watch', '--wait'], { interruptAt: '✓ Plan' });
  const goesOn = expect.stringMatching(
    new RegExp(
      `^\nStopped watching\\. The run (continues|is still waiting for a decision)\\.\n\n  Watch again  stepform runs watch ${id}\n  Cancel       stepform runs cancel ${id}\n$`,
    ),
  );
  expect(left).toMatchObject({ code: exit.interrupted, err: goesOn });

  const waiting = await succeed(['status']);
  expect(waiting).toMatch(new RegExp(`Waiting for you\\n.* {2}${workspace} +Needs Confirmation [^\\n]* First`, 's'));
  expect(waiting).not.toMatch(new RegExp(`Waiting for others\\n( .*\\n)* {2}${workspace} `));
  // Not even on a terminal, if the answer would come from elsewhere.
  const unnamed = terminal ? await end(inTerminal('runs confirm </dev/null')) : await stepform(['runs', 'confirm']);
  expect([unnamed.code, unnamed.out + unnamed.err]).toEqual([
    exit.usage,
    expect.stringContaining('--workspace <name>'),
  ]);
  const applied = await stepform(['runs', 'confirm', '-w', workspace, '--watch', '-m', 'Looks good']);
  expect(applied).toMatchObject({ code: exit.done, out: expect.stringContaining('Apply complete!') });
  expect(applied.out).not.toContain('will be created');
  expect(applied.out.slice(0, 15 + head.length)).toBe(`Run confirmed.\n${head}`);
  expect(applied.out).toMatch(
    /\n✓ Confirmation +[^\n]+ s\n(.*\n)+✓ Apply +[\d.]+ s {2}1 added, 0 changed, 0 destroyed\n\nApplied\n$/,
  );
  expect((await client.list(`/runs/${id}/comments`)).map(({ attributes }) => attributes.body)).toEqual(['Looks good']);
  expect((await json(['runs', 'show'])).data.attributes).toMatchObject({ status: 'applied', message: 'First' });
  const shown = await succeed(['runs', 'show']);
  // An applied run needs no next step.
  expect(shown).toMatch(
    new RegExp(
      [
        `^First  Applied  ${id}`,
        `${platform.url}/app/${organization}/workspaces/${workspace}/runs/${id}`,
        `${organization}/${workspace}, queued (just now|\\d+ \\w+ ago) by \\S+ from the command line`,
        '',
        ...['Pending', 'Plan', 'Confirmation', 'Apply'].map((stage) => `  ${stage} +(\\d+ min )?[\\d.]+ s`),
        '',
        'Plan: 1 to add, 0 to change, 0 to destroy',
        'Apply: 1 added, 0 changed, 0 destroyed',
        '$',
      ].join('\n'),
    ),
  );
  const quiet = await succeed(['status']);
  expect(quiet).not.toContain(` ${workspace} `);
  expect(quiet).toMatch(/^\S+ {2}\d\d:\d\d:\d\d\n\n(.*\n)*All well in (the other )?\d+ workspaces?\.\n$/);
  const logs = await succeed(['runs', 'logs']);
  const applyLog = await succeed(['runs', 'logs', '--phase', 'apply']);
  expect(logs.endsWith(applyLog)).toBe(true);
  const planLog = logs.slice(0, -applyLog.length).trimEnd();
  expect(planLog).toMatch(/^Terraform v.*will be created.*sensitive value\)$/s);
  expect(planned.out).toContain(`s\n\n${planLog}\n\n✓ Plan`);
  expect(applied.out).toContain(`s\n\n${applyLog.trimEnd()}\n\n✓ Apply`);
  const late = await stepform(['runs', 'discard', id]);
  expect(late).toMatchObject({
    code: exit.notNow,
    err: `✗ Run ${id} has status Applied. No actions are available now.\n`,
  });

  expect(await succeed(['state', 'outputs'])).toBe('n = "a \\"b\\""\nsecret = (sensitive)\n');
  expect(await succeed(['state', 'outputs', 'secret'])).toBe('hunter2\n');
});

it('stepform pulls and pushes states, and rolls back', async () => {
  const [first] = (await json(['state', 'list'])).data;
  const state = JSON.parse(await succeed(['state', 'pull']));
  expect(state.serial).toBe(first.attributes.serial);
  const next = { ...state, serial: state.serial + 1, outputs: {} };
  expect(await succeed(['state', 'push', '-'], JSON.stringify(next))).toMatch(
    new RegExp(`^Pushed serial ${next.serial} to ${workspace} \\(sv-\\w+\\)\\.\n$`),
  );
  expect(await succeed(['state', 'outputs'])).toBe('No outputs.\n');
  const older = await stepform(['state', 'push', '-'], { input: JSON.stringify({ ...next, serial: 0 }) });
  expect(older).toMatchObject({ code: exit.notNow, err: expect.stringContaining('the newer serial') });
  const text = await stepform(['state', 'push', '-'], { input: 'serial = 1' });
  expect(text).toMatchObject({ code: exit.usage, err: expect.stringContaining('- is not JSON') });
  expect(await succeed(['state', 'rollback', String(state.serial)])).toMatch(
    new RegExp(
      `^Rolled ${workspace} back to ${first.id}, as serial ${next.serial + 1}\\. .*--workspace ${workspace}\n$`,
    ),
  );
  expect(JSON.parse(await succeed(['state', 'pull'])).outputs).toEqual(state.outputs);
  // Each command has released the lock.
  expect(await succeed(['lock', '--reason', 'hands off'])).toBe(
    `Workspace ${workspace} locked. New runs wait until it is unlocked.\n`,
  );
  const again = await stepform(['lock']);
  expect(again).toMatchObject({
    code: exit.notNow,
    err: expect.stringMatching(/locked by User \S+ since .* \(hands off\)/),
  });
  expect(await succeed(['workspaces', 'list'])).toMatch(
    new RegExp(`^${workspace} +Applied +\\S.* {2}1 resource +locked by \\S+ (just now|\\d+ s ago): hands off$`, 'm'),
  );
  expect(await succeed(['unlock'])).toBe(`Workspace ${workspace} unlocked.\n`);
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
  expect([log[0], log.at(-2), log.at(-1)]).toEqual([expect.stringMatching(/^Terraform v/), '│ module.', '╵']);
  expect(log).toContain('│ Error: Reference to undeclared resource');
  expect(log.join('\n')).not.toContain('\x1b');
  expect(events.findLastIndex(({ phase }) => phase === 'plan')).toBeLessThan(
    events.findIndex(({ stage }) => stage === 'Plan'),
  );
  expect(events.find(({ stage }) => stage === 'Plan')).toEqual({
    event: 'stage',
    stage: 'Plan',
    state: 'failed',
    seconds: expect.any(Number),
  });
  expect(events.at(-1)).toMatchObject({ event: 'end', name: 'Plan Errored', status: 'errored', 'exit-code': code });
  const missing = await stepform(['runs', 'show', 'run-0000000000000000', '--json']);
  expect(missing.code).toBe(exit.notFound);
  expect(JSON.parse(missing.out)).toMatchObject({ errors: [{ status: '404' }], 'exit-code': exit.notFound });
});

it('stepform reports a truncated list, the workspace it guessed, and how to retry', async () => {
  const part = await stepform(['runs', 'list', '--limit', '1']);
  expect(part).toMatchObject({
    code: exit.done,
    err: 'There are more runs. List them with --limit 5\n',
  });
  expect((await json(['runs', 'list', '--limit', '1'])).meta).toEqual({ more: true });
  expect((await stepform(['workspaces', 'list'])).err).toBe('');
  const typo = await stepform(['runs', 'list', '--workspace', `${workspace}x`]);
  expect(typo).toMatchObject({ code: exit.notFound, err: expect.stringContaining(`Did you mean ${workspace}?`) });
  const [{ id: failed }] = (await json(['runs', 'list', '--status', 'errored'])).data;
  expect(await succeed(['runs', 'show', failed])).toMatch(
    new RegExp(
      `\n  Plan +[\\d.]+ s  failed\n  Apply +not reached\n\nReference to undeclared resource: .*\n\n  Start a new run  stepform runs start --workspace ${workspace}\n$`,
    ),
  );
});

it.runIf(terminal)('stepform asks before it applies in a terminal, with colors and progress', async () => {
  const child = inTerminal('runs start --watch --destroy --var n=1');
  whenItSays(child, 'Apply these changes?', () => child.stdin.write('y\r'));
  whenItSays(child, 'Type "yes" or "discard", or press Enter', () => child.stdin.write('yes\r'));
  const { code, out } = await end(child);
  expect(stripVTControlCharacters(out)).toMatch(/Apply these changes\? This destroys 1 resource\./);
  expect(out).toContain('\x1b[32m✓\x1b[39m Apply');
  expect({ code, out }).toEqual({ code: exit.done, out: expect.stringContaining('Apply complete!') });
});

it.runIf(terminal)('stepform ignores input typed before a question, and takes nothing but "yes" for it', async () => {
  const child = inTerminal('runs start --watch --var n=2');
  const ended = end(child);
  whenItSays(child, 'Pending', () => child.stdin.write('yes\ryes\r'));
  await new Promise<void>((resolve) => whenItSays(child, 'Apply these changes?', resolve));
  const decide = (verb: string, answer: string) => {
    const decision = inTerminal(`runs ${verb}`);
    whenItSays(decision, 'this run? Type "yes"', () => decision.stdin.write(`${answer}\r`));
    return end(decision);
  };
  const shown = ({ code, out }: Ended) => ({ code, out: stripVTControlCharacters(out).replaceAll('\r', '') });
  expect(shown(await decide('confirm', 'y'))).toEqual({
    code: exit.interrupted,
    out: expect.stringMatching(
      /\n1 to add, 0 to change, 0 to destroy\nConfirm this run\? .*y\n✗ No action taken: the answer is not "yes"\.\n$/,
    ),
  });
  expect(shown(await decide('discard', 'yes'))).toEqual({
    code: exit.done,
    out: expect.stringMatching(/\nDiscard this run\? .*yes\nRun discarded\.\n$/),
  });
  child.stdin.write('discard\r');
  const { code, out } = await ended;
  expect({ code, out }).toEqual({ code: exit.discarded, out: expect.not.stringContaining('Apply complete!') });
  expect(out).toContain('The run has changed in the meantime.');
});

it.runIf(terminal)('Ctrl-C in a terminal cancels the run that the command started, after asking', async () => {
  const child = inTerminal('runs start --watch --auto-apply', 'slow');
  const ended = end(child);
  await new Promise<void>((resolve) => whenItSays(child, 'Creating...', resolve));
  const watcher = inTerminal('runs watch', 'slow');
  whenItSays(watcher, 'Creating...', () => watcher.stdin.write('\x03'));
  const left = await end(watcher);
  expect(left).toMatchObject({ code: exit.interrupted, out: expect.stringContaining('The run continues.') });
  expect(left.out).not.toContain('Cancel the run?');
  whenItSays(child, 'Cancel the run?', () => child.stdin.write('yes\r'));
  child.stdin.write('\x03');
  const { code, out } = await ended;
  expect({ code, out }).toEqual({
    code: exit.canceled,
    out: expect.stringContaining('Cancel requested. Terraform is'),
  });
  const shown = stripVTControlCharacters(out).replaceAll('\r', '');
  expect(shown).toMatch(/\nCancel the run\? .*\n> yes\nCancel requested\./);
  expect(shown).toMatch(/\n■ Apply +[\d.]+ s.*\n\nCanceled\n/);
});
