import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findBinary } from '../../../functions/runner/binary/find.ts';
import { Control } from '../../../functions/runner/control.ts';
import { takeSettings } from '../../../functions/runner/settings.ts';
import { StartedAhead } from '../../../functions/runner/terraform/ahead.ts';
import { Gate } from '../../../functions/runner/terraform/gate.ts';
import { run } from '../../../functions/runner/terraform/process.ts';
import { takeUsers, type User } from '../../../functions/runner/terraform/users.ts';
import { give } from '../../../functions/runner/workspace/tree.ts';

/** With the real Terraform, whose first open file is what holds it back. */

const settings = takeSettings({ ...process.env, STEPFORM_URL: 'http://localhost', STEPFORM_CLAIM: 'claim' });
const binary = await findBinary({ engine: 'terraform', version: 'latest' }, settings, new AbortController().signal);

let folder: string;
let home: string;
let user: User;
let ahead: StartedAhead;
let control: Control;
let output: string;
let made = 0;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ahead-'));
  chmodSync(folder, 0o711);
  home = join(folder, 'home');
  user = (await takeUsers('')).plan;
  for (const path of [home, join(folder, 'work')]) {
    mkdirSync(path, { mode: 0o700 });
    give(path, user.owner);
  }
  control = new Control();
  output = '';
  ahead = new StartedAhead({
    gate: async (of, owner) => {
      const pipe = join(folder, `pipe-${++made}`);
      execFileSync('mkfifo', [pipe]);
      return new Gate(pipe, of, owner);
    },
  });
});
afterEach(async () => {
  await ahead.drop();
  rmSync(folder, { recursive: true });
});

const init = (more: Record<string, string> = {}, path = binary.path) => ({
  path,
  args: ['init', '-input=false', '-no-color'],
  directory: join(folder, 'work'),
  environment: { PATH: process.env.PATH ?? '', HOME: home, CHECKPOINT_DISABLE: '1', ...more },
  user,
});
const heard = (command: ReturnType<typeof init>) => ({
  ...command,
  output: (bytes: Buffer) => {
    output += bytes;
  },
});
const settingsFile = () => join(home, '.terraformrc');
const configure = (text: string): void => {
  const file = join(folder, 'work', 'main.tf');
  writeFileSync(file, text);
  give(file, user.owner);
};
describe('a Terraform that was started ahead', () => {
  it('sees what is there when it is its turn, and none of the gate', async () => {
    ahead.start(binary, home, () => init({ TF_LOG: 'INFO' }));
    await sleep(500);
    expect(existsSync(settingsFile())).toBe(true);
    expect(output).toBe('');
    configure('terraform {\n  required_version = ">= 99"\n}\n');
    const ended = await ahead.proceed(heard(init({ TF_LOG: 'INFO' })), control);
    expect(ended?.code).toBe(1);
    expect(output).toMatch(/Go runtime version[\s\S]*required_version = ">= 99"/);
    expect(output).not.toMatch(/problems with the CLI configuration/);
    expect(statSync(settingsFile())).toMatchObject({ size: 0 });
    expect(statSync(settingsFile()).isFile()).toBe(true);
  });

  it('is ended, not used, for a command that is not the very same', async () => {
    ahead.start(binary, home, () => init());
    expect(await ahead.proceed(heard(init({ TF_VAR_a: 'b' })), control)).toBeUndefined();
    expect([existsSync(settingsFile()), user.busy, output]).toEqual([false, false, '']);
    // Nothing is left of it for the next one.
    expect(await ahead.proceed(heard(init()), control)).toBeUndefined();
  });

  it('finds no settings, whenever it looks for them', async () => {
    configure('terraform {\n  required_version = ">= 99"\n}\n');
    for (let n = 0; n < 12; n++) {
      output = '';
      ahead.start(binary, home, () => init());
      if (n % 4) await sleep(n);
      await ahead.proceed(heard(init()), control);
      expect(output).toMatch(/^Initializing the backend/);
    }
  });

  it('is not what another command has left, which is ended', async () => {
    ahead.start(binary, home, () => init());
    await expect.poll(() => user.busy).toBe(true);
    const mark = join(folder, 'work', 'left');
    const script = `(setsid sh -c 'echo > ${mark}; sleep 1; echo more > ${mark}' &) ; while [ ! -e ${mark} ]; do sleep 0.01; done`;
    await run({ ...init(), path: '/bin/sh', args: ['-c', script], output: () => {} }, control);
    expect(existsSync(settingsFile())).toBe(true);
    configure('terraform {\n  required_version = ">= 99"\n}\n');
    expect((await ahead.proceed(heard(init()), control))?.code).toBe(1);
    expect(output).toContain('required_version = ">= 99"');
    await sleep(1_200);
    expect([readFileSync(mark, 'utf8'), user.busy]).toEqual(['\n', false]);
  });

  it('is ended when nobody needs it', async () => {
    ahead.start(binary, home, () => init());
    await sleep(100);
    await ahead.drop();
    expect([existsSync(settingsFile()), user.busy]).toEqual([false, false]);
  });

  it('does not go on after a request to stop', async () => {
    ahead.start(binary, home, () => init());
    control.heed({ signal: 'interrupt' });
    expect(await ahead.proceed(heard(init()), control)).toBeUndefined();
    expect(output).toBe('');
  });

  it('stops when it is asked to', async () => {
    configure('module "m" {\n  source = "git::ssh://127.0.0.1:1/none"\n}\n');
    const environment = { GIT_SSH_COMMAND: 'sleep 60; false' };
    ahead.start(binary, home, () => init(environment));
    const ended = ahead.proceed(heard(init(environment)), control);
    await expect.poll(() => output, { timeout: 20_000 }).toContain('Downloading');
    control.heed({ signal: 'interrupt' });
    control.kill();
    expect((await ended)?.code).not.toBe(0);
  });

  it('is none of what ends or would not wait', async () => {
    const others: Record<string, string>[] = [
      { TF_CLI_CONFIG_FILE: '/none' },
      { TERRAFORM_CONFIG: '/none' },
      { HOME: '/' },
    ];
    for (const more of others) ahead.start(binary, home, () => init(more));
    ahead.start({ ...binary, engine: 'tofu' }, home, () => init());
    ahead.start({ ...binary, version: '0.15.5' }, home, () => init());
    ahead.start(binary, home, () => {
      throw new Error('cannot be set');
    });
    expect(existsSync(settingsFile())).toBe(false);
    // Reads no settings.
    ahead.start(binary, home, () => init({}, '/bin/true'));
    await sleep(200);
    expect(await ahead.proceed(heard(init({}, '/bin/true')), control)).toBeUndefined();
    expect(existsSync(settingsFile())).toBe(false);
  });
});
