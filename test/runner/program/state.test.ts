import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readKeptState } from '#platform/formats/kept-state.ts';
import { Client } from '#runner/program/client.ts';
import { Control } from '#runner/program/control.ts';
import { StateKeeper } from '#runner/program/state.ts';
import { StateBackupUrl } from '#runner/program/state-backup-url.ts';
import { ControlPlane } from './control-plane.ts';
import { jobFor, keptStateKey } from './support.ts';
import { until } from './until.ts';

let directory: string;
let file: string;
let plane: ControlPlane;
let keeper: StateKeeper;
let refuge: StateBackupUrl;
const kept = () => join(directory, 'kept', 'run.tfstate');

const state = (serial: number, resources: string[] = []): string =>
  JSON.stringify({ version: 4, serial, lineage: 'l', outputs: {}, resources }, undefined, 2);
const serials = () => plane.states.map(({ serial, intermediate }) => `${serial}${intermediate ? ' intermediate' : ''}`);
const posts = () => plane.calls.filter((call) => call === 'POST /runner/v1/state-versions').length;

const sparse = (path: string): void => {
  writeFileSync(path, '');
  truncateSync(path, 2 ** 40);
};

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'state-test-'));
  mkdirSync(join(directory, 'state'));
  file = join(directory, 'state', 'terraform.tfstate');
  plane = await ControlPlane.start();
  const job = jobFor(plane, Buffer.alloc(0), { phase: 'apply' });
  plane.offer(job);
  const control = new Control();
  const client = new Client(plane.url, job.token, control.over, () => control.end());
  const { runId, erroredStateUrl, keptStateKey: key } = job;
  refuge = new StateBackupUrl(erroredStateUrl);
  keeper = new StateKeeper(file, client, control, { address: refuge, runId, key, file: kept(), freeDisk: () => {} });
});
afterEach(async () => {
  await plane.stop();
  rmSync(directory, { recursive: true, force: true });
  expect(plane.violations).toEqual([]);
});

describe('the state of an apply', () => {
  it('is stored only when it has changed', async () => {
    writeFileSync(file, state(3));
    await keeper.watch();
    expect(await keeper.finish()).toEqual({ problem: undefined });
    expect(posts()).toBe(0);
  });

  it('is complete with any trailing white space, and incomplete without its end', async () => {
    await keeper.watch();
    // Written by OpenTofu 1.12.
    writeFileSync(file, `${state(1)}\n\n`);
    expect(await keeper.finish()).toEqual({ stateVersionId: 'sv-1', problem: undefined });
    writeFileSync(file, state(2).slice(0, -4));
    expect((await keeper.finish()).problem).toContain('killed while it wrote its state');
  });

  it.each([
    ['a link to another state', (other: string) => symlinkSync(other, file), 'a symbolic link, not a regular file'],
    ['a hard link to another state', (other: string) => linkSync(other, file), 'a hard link'],
    ['a pipe', () => execFileSync('mkfifo', [file]), 'a named pipe, not a regular file'],
    ['a sparse file of terabytes', () => sparse(file), 'larger than 512 MiB'],
  ])('is rejected with the reason if it is %s', async (_, leave, why) => {
    await keeper.watch();
    const other = join(directory, 'other.tfstate');
    writeFileSync(other, state(7));
    leave(other);
    const { problem, stateVersionId } = await keeper.finish();
    expect(problem).toContain(why);
    expect(problem).toContain('Changes that this apply made since the last stored state are not recorded.');
    expect([stateVersionId, plane.states]).toEqual([undefined, []]);
  });

  it('is absent when Terraform has created none', async () => {
    await keeper.watch();
    expect(await keeper.finish()).toEqual({ problem: undefined });
  });

  it('is stored occasionally, and once more at the end', async () => {
    await keeper.watch();
    for (let serial = 1; serial <= 20; serial++) writeFileSync(file, state(serial, ['a']));
    await until('a snapshot', () => plane.current());
    expect(serials()).toEqual(['20 intermediate']);
    writeFileSync(file, state(21, ['a', 'b']));
    expect(await keeper.finish()).toMatchObject({ stateVersionId: 'sv-2' });
    expect(serials()).toEqual(['20 intermediate', '21']);
    expect(plane.states.every(({ completed }) => completed)).toBe(true);
  });

  it.each([
    ['comes with its announcement when it is small', 200_000, 1],
    ['is uploaded when it is large', 400_000, 3],
  ])('%s', async (_, size, calls) => {
    plane.takesContent = true;
    await keeper.watch();
    writeFileSync(file, state(1, ['x'.repeat(size)]));
    expect(await keeper.finish()).toMatchObject({ stateVersionId: 'sv-1' });
    expect(plane.current()?.content).toEqual(readFileSync(file));
    expect(plane.calls).toHaveLength(calls);
  });

  it('is not stored twice when the last snapshot is the final state', async () => {
    await keeper.watch();
    writeFileSync(file, state(1, ['a']));
    await until('a snapshot', () => plane.current());
    expect(await keeper.finish()).toMatchObject({ stateVersionId: 'sv-1' });
    expect(serials()).toEqual(['1']);
    expect(plane.calls.filter((call) => call.startsWith('PUT'))).toHaveLength(1);
  });

  it('is the last complete one when Terraform was killed while writing, with a message', async () => {
    writeFileSync(file, state(1));
    await keeper.watch();
    writeFileSync(file, state(2, ['a']));
    await until('a snapshot', () => plane.current());
    writeFileSync(file, state(3, ['a', 'b']).slice(0, 60));
    const { stateVersionId, problem } = await keeper.finish();
    expect(stateVersionId).toBe('sv-1');
    expect(problem).toMatch(/^Terraform was killed while it wrote its state/);
    expect(JSON.parse(plane.current()?.content?.toString() ?? '')).toMatchObject({ serial: 2 });
  });

  it('is distinguished from a snapshot with the same serial', async () => {
    writeFileSync(file, state(5));
    await keeper.watch();
    writeFileSync(file, state(6, ['a']));
    await until('a snapshot', () => plane.current());
    // Terraform keeps the serial if the state equals that of the start.
    writeFileSync(file, state(5));
    await keeper.finish();
    expect(serials()).toEqual(['6 intermediate', '7']);
    expect(JSON.parse(plane.current()?.content?.toString() ?? '')).toMatchObject({ serial: 7, resources: [] });
  });
});

describe('a state that cannot be saved to the workspace', () => {
  const errored = () => plane.objects.get('run-1234567890abcdef/errored-state')?.toString();
  const refuse = () => {
    // Another user's state is newer.
    plane.states.push({ id: 'sv-x', serial: 9, lineage: 'x', md5: '', size: 0, intermediate: false, completed: false });
  };

  it('is saved as the errored state, with a message that contains its location and the next step', async () => {
    writeFileSync(file, state(3));
    await keeper.watch();
    writeFileSync(file, state(4, ['a']));
    refuse();
    expect(await keeper.finish()).toMatchObject({
      unsaved: {
        serial: 4,
        lineage: 'l',
        md5: createHash('md5')
          .update(state(4, ['a']))
          .digest('hex'),
      },
      problem: expect.stringMatching(
        /^The state of this apply \(serial 4\) could not be saved to the workspace, which still has serial 3: .*serial 4 after 9\. .*errored state\. .*"terraform state push".* locked/,
      ),
    });
    expect(errored()).toBe(state(4, ['a']));
    expect(existsSync(kept())).toBe(false);
    expect(plane.violations.splice(0)).toHaveLength(1);
  });

  it.each([
    ['has run out', 'expired'],
    ['was signed by credentials that have ended', 'credentials-ended'],
  ] as const)('is uploaded to a new URL when the first one %s', async (_, how) => {
    await keeper.watch();
    writeFileSync(file, state(1, ['a']));
    refuse();
    let expired = false;
    plane.fault = (path) => {
      if (path !== '/objects/run-1234567890abcdef/errored-state' || expired) return undefined;
      expired = true;
      return how;
    };
    expect(await keeper.finish()).toMatchObject({ unsaved: { serial: 1 } });
    expect(errored()).toBe(state(1, ['a']));
    expect(plane.calls).toContain('POST /runner/v1/errored-state');
    plane.violations.splice(0);
  });

  it('is uploaded to the URL from a heartbeat, even while the control plane does not respond', async () => {
    await keeper.watch();
    writeFileSync(file, state(1, ['a']));
    refuse();
    const spent = new URL(refuge.url ?? '').pathname;
    refuge.renew(plane.presigned('renewed'));
    plane.fault = (path) => (path === spent || path.endsWith('errored-state') ? 'credentials-ended' : undefined);
    expect(await keeper.finish()).toMatchObject({ unsaved: { serial: 1 } });
    expect(plane.objects.get('renewed')?.toString()).toBe(state(1, ['a']));
    expect(existsSync(kept())).toBe(false);
    plane.violations.splice(0);
  });

  it('that follows a snapshot with a higher serial is numbered so that it can be pushed', async () => {
    writeFileSync(file, state(5));
    await keeper.watch();
    writeFileSync(file, state(6, ['a']));
    await until('a snapshot', () => plane.current());
    writeFileSync(file, state(5));
    refuse();
    await keeper.finish();
    expect(JSON.parse(errored() ?? '')).toMatchObject({ serial: 7, resources: [] });
    plane.violations.splice(0);
  });

  const opened = (): string => {
    const bytes = readFileSync(kept());
    expect(statSync(kept()).mode & 0o777).toBe(0o600);
    expect(bytes.includes('lineage')).toBe(false);
    return readKeptState(bytes).open(Buffer.from(keptStateKey.key, 'base64')).toString();
  };

  it('is saved only on the runner’s disk when the control plane has revoked the runner’s token', async () => {
    await keeper.watch();
    writeFileSync(file, state(1, ['a']));
    plane.disown();
    await expect(keeper.finish()).rejects.toThrow('410');
    expect([...plane.objects.keys()]).toEqual(['configuration']);
    expect(opened()).toBe(state(1, ['a']));
  });

  it('is saved encrypted on the runner’s disk when every upload fails', async () => {
    await keeper.watch();
    writeFileSync(file, state(1, ['a']));
    refuse();
    plane.fault = (path) => (path.endsWith('errored-state') ? 'expired' : undefined);
    expect(await keeper.finish()).toMatchObject({
      unsaved: { serial: 1 },
      problem: expect.stringMatching(new RegExp(`encrypted, at ${kept()}\\. The platform restores it`)),
    });
    expect(opened()).toBe(state(1, ['a']));
    plane.violations.splice(0);
  });

  it('is retried until it can be saved anywhere', async () => {
    await keeper.watch();
    writeFileSync(file, state(1, ['a']));
    refuse();
    // The folder's path is a file, so no file can be written in it either.
    writeFileSync(dirname(kept()), '');
    plane.fault = (path) => {
      if (!path.endsWith('errored-state')) return undefined;
      plane.states.pop();
      return 'expired';
    };
    const { stateVersionId, problem } = await keeper.finish();
    expect({ stateVersionId, problem }).toEqual({ stateVersionId: expect.stringMatching(/^sv-/), problem: undefined });
    expect(plane.current()?.content?.toString()).toBe(state(1, ['a']));
    plane.violations.splice(0);
  });

  it.each([
    ['has run out', 'expired'],
    ['was signed by credentials that have ended', 'credentials-ended'],
  ] as const)('is announced again when its URL %s meanwhile', async (_, how) => {
    await keeper.watch();
    writeFileSync(file, state(1, ['a']));
    let expired = false;
    plane.fault = (path) => {
      if (!path.startsWith('/objects/') || expired) return undefined;
      expired = true;
      return how;
    };
    expect(await keeper.finish()).toEqual({ stateVersionId: 'sv-1', problem: undefined });
    expect(posts()).toBe(2);
    plane.violations.splice(0);
  });

  it('is uploaded again after a time-out of storage (400 RequestTimeout)', async () => {
    await keeper.watch();
    writeFileSync(file, state(1, ['a']));
    let slow = 2;
    plane.fault = (path) => (path.startsWith('/objects/') && slow-- > 0 ? 'request-timeout' : undefined);
    expect(await keeper.finish()).toEqual({ stateVersionId: 'sv-1', problem: undefined });
    expect(plane.current()?.content?.toString()).toBe(state(1, ['a']));
    expect(posts()).toBe(1);
  });
});
