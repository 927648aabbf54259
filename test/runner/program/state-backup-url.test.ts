import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { conclude } from '#runner/program/conclude.ts';
import { Phase } from '#runner/program/phase.ts';
import { takeSettings } from '#runner/program/settings.ts';
import { StateBackupUrl } from '#runner/program/state-backup-url.ts';
import { takeUsers } from '#runner/program/terraform/users.ts';
import { JobDirectory } from '#runner/program/workspace/job-directory.ts';
import { ControlPlane } from './control-plane.ts';
import { jobFor } from './support.ts';
import { until } from './until.ts';

let plane: ControlPlane;
beforeEach(async () => {
  plane = await ControlPlane.start();
});
afterEach(async () => {
  vi.useRealTimers();
  await plane.stop();
});

const minute = 60_000;

it('a plan has no URL for an errored state, and never requests one', () => {
  let clock = 0;
  const address = new StateBackupUrl(null, () => clock);
  clock = 1000 * minute;
  expect(address.isOld).toBe(false);
});

it('a URL is old after five minutes, until it is renewed', () => {
  let clock = 0;
  const address = new StateBackupUrl('first', () => clock);
  clock = 4 * minute;
  expect(address.isOld).toBe(false);
  clock = 5 * minute;
  expect(address.isOld).toBe(true);
  address.renew('second');
  expect([address.url, address.isOld]).toEqual(['second', false]);
});

it('heartbeats renew the URL during a long apply, only when it is old', async () => {
  const job = { ...jobFor(plane, Buffer.alloc(0), { phase: 'apply' }), heartbeatSeconds: 0.02 };
  const { record } = plane.offer(job);
  const files = new JobDirectory('network');
  const users = takeUsers({ terraformUsers: 'none', rooms: false }, files.root);
  const phase = new Phase(job, takeSettings({ STEPFORM_URL: plane.url, STEPFORM_CLAIM: 'claim' }), files, users);
  const renew = vi.spyOn(phase.refuge, 'renew');
  vi.useFakeTimers({ toFake: ['Date'] });
  const beats = (n: number) => {
    const before = record.heartbeats;
    return until(`${n} heartbeats`, () => record.heartbeats >= before + n);
  };
  await conclude(phase, async () => {
    await beats(3);
    expect(renew).not.toHaveBeenCalled();
    for (let hour = 1; hour <= 13; hour++) {
      vi.setSystemTime(Date.now() + 60 * minute);
      await until('a new address', () => renew.mock.calls.length === hour);
      await beats(2);
      expect(renew).toHaveBeenCalledTimes(hour);
    }
  });
  expect(phase.refuge.url).toBe(plane.presigned('run-1234567890abcdef/errored-state'));
  expect(record.report).toMatchObject({ outcome: 'finished' });
  files.remove();
});
