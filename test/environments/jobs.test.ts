import { expect, it } from 'vitest';
import { type Job, jobStatus, outcomeOf } from '#environments/jobs.ts';
import { dueActions } from '#environments/workspaces/due.ts';
import type { Run } from '#run/run.ts';

/** The progress of jobs by their runs, and the scheduled actions that follow. */

const run = (status: string, more: object = {}): Run =>
  ({ status, plan: { statusTimestamps: {} }, apply: {}, ...more }) as unknown as Run;
const job = (more: Partial<Job> = {}): Job =>
  ({ createdAt: '2026-01-05T08:00:00Z', runIds: ['run-1'], ...more }) as Job;
const cancel = { at: '2026-01-05T09:00:00Z' };
const completedAt = '2026-01-05T10:00:00Z';

it.each<[string, Partial<Job>, Run[]]>([
  ['pending', {}, []],
  ['pending', {}, [run('plan_queued')]],
  ['running', {}, [run('pending'), run('planning')]],
  ['canceling', {}, [run('planning', { cancel })]],
  ['succeeded', { completedAt }, [run('applied', { cancel })]],
  ['canceled', { completedAt, canceledAt: completedAt }, []],
  ['failed', { completedAt, canceledAt: completedAt, error: 'x' }, []],
])('a job is %s: %j', (status, change, runs) => {
  expect(jobStatus(job(change), runs)).toBe(status);
});

const report = (message: string) => ({ statusTimestamps: {}, report: { message } });

it.each<[string, Run[], object | undefined]>([
  ['has no outcome without its run', [], undefined],
  ['has no outcome before the end of its run', [run('applying')], undefined],
  ['succeeds', [run('applied')], { error: undefined, canceledAt: undefined }],
  ['counts as canceled when its run was applied all the same', [run('applied', { cancel })], { canceledAt: cancel.at }],
  ['is canceled with its run', [run('canceled', { cancel })], { canceledAt: cancel.at, error: undefined }],
  ['is canceled when its run is discarded', [run('discarded')], { canceledAt: expect.any(String) }],
  [
    'fails with the message of the apply',
    [run('errored', { cancel, apply: report('of apply'), plan: report('of plan') })],
    { error: 'of apply', canceledAt: undefined },
  ],
  [
    'fails with the message of the plan',
    [run('errored', { plan: report('of plan'), endReason: 'r' })],
    { error: 'of plan' },
  ],
  ['fails with the reason of the end', [run('errored', { endReason: 'no disk', failure: 'f' })], { error: 'no disk' }],
  [
    'fails with the policies of its run',
    [run('policy_soft_failed')],
    { error: 'The run ended as policy_soft_failed.' },
  ],
])('a job %s', (_, runs, expected) => {
  const outcome = outcomeOf(job(), runs);
  if (expected) expect({ error: undefined, canceledAt: undefined, ...outcome }).toMatchObject(expected);
  else expect(outcome).toBeUndefined();
});

it('a job started with its first plan, or with the record of its run', () => {
  const plan = (at: string) => ({ plan: { statusTimestamps: { 'started-at': at } } });
  const runs = [run('applied', plan('2026-01-05T08:02:00Z')), run('applied', plan('2026-01-05T08:01:00Z'))];
  expect(outcomeOf(job(), runs)?.startedAt).toBe('2026-01-05T08:01:00Z');
  expect(outcomeOf(job(), [run('canceled')])?.startedAt).toBe('2026-01-05T08:00:00Z');
  expect(outcomeOf(job({ startedAt: 'earlier' }), runs)?.startedAt).toBe('earlier');
});

const hour = 3_600_000;
const at = (text: string) => Date.parse(text);
const created = '2026-01-05T08:00:00Z';
const deadline = '2026-01-05T12:00:00Z';
const schedule = { autostartSchedule: 'CRON_TZ=UTC 0 9 * * *' };
const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

it.each<[string, object, object, object, [string, string][]]>([
  [
    'a running one stops at its deadline',
    {},
    { failureTtlMs: hour },
    { transition: 'start', deadline },
    [['autostop', deadline]],
  ],
  ['a running one without a deadline has no action', schedule, {}, { transition: 'start' }, []],
  ['a stopped one starts', schedule, {}, { transition: 'stop', deadline }, [['autostart', '2026-01-05T09:00:00Z']]],
  ['a stopped one without a schedule has no action', {}, {}, { transition: 'stop' }, []],
  ['a failed stop starts nothing', schedule, { failureTtlMs: hour }, { transition: 'stop', error: 'x' }, []],
  [
    'a failed start stops',
    {},
    { failureTtlMs: hour },
    { transition: 'start', error: 'x', completedAt, deadline },
    [['stop after failure', '2026-01-05T11:00:00Z']],
  ],
  ['a failed start is kept without a rule', {}, {}, { transition: 'start', error: 'x', completedAt }, []],
  [
    'an unused one sleeps',
    {},
    { timeTilDormantMs: hour },
    { transition: 'stop' },
    [['dormancy', '2026-01-05T09:00:00Z']],
  ],
  [
    'a dormant one is deleted',
    { dormantAt: created },
    { timeTilDormantMs: hour, timeTilDormantAutodeleteMs: hour },
    { transition: 'stop' },
    [['delete', '2026-01-05T09:00:00Z']],
  ],
  ['a dormant one stays without a rule', { dormantAt: created, ...schedule }, {}, { transition: 'stop' }, []],
  [
    'a failed deletion is repeated a day later',
    { dormantAt: created },
    { timeTilDormantAutodeleteMs: hour },
    { transition: 'delete', error: 'x', completedAt },
    [['delete', '2026-01-06T10:00:00Z']],
  ],
  ['a deleted one has no action', { deletedAt: created }, { timeTilDormantMs: hour }, { transition: 'delete' }, []],
  ['one of a pool has no action', { prebuild: {} }, { timeTilDormantMs: hour }, { transition: 'start', deadline }, []],
])('of environments, %s', (_, environment, template, build, expected) => {
  const rules = { failureTtlMs: 0, timeTilDormantMs: 0, timeTilDormantAutodeleteMs: 0, allowUserAutostart: true };
  const actions = dueActions(
    { lastUsedAt: created, ...environment } as never,
    { ...rules, autostartDays: days, ...template } as never,
    { createdAt: created, ...build } as never,
  );
  expect(actions).toEqual(expected.map(([action, time]) => ({ action, at: at(time) })));
});
