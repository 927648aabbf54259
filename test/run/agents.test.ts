import { expect, it } from 'vitest';
import { agentStatus, endingSignal, isAgentRunnerGone, jobState } from '#run/agents.ts';
import type { Phase, Run } from '#run/run.ts';
import { newRun } from '#test/support/run.ts';

const now = '2026-01-01T00:01:00.000Z';
const before = '2026-01-01T00:00:59.999Z';
const after = '2026-01-01T00:01:00.001Z';
const phase = (change: Partial<Phase> = {}): Phase => ({ status: 'queued', statusTimestamps: {}, ...change });

it('an agent is busy with a job, unknown without recent pings, and has its reported status after its end', () => {
  const job = { runId: 'run-1', phase: 'plan' as const };
  expect(agentStatus({ lastPingAt: now }, now)).toBe('idle');
  expect(agentStatus({ lastPingAt: now, job }, now)).toBe('busy');
  expect(agentStatus({ lastPingAt: before, job }, now)).toBe('unknown');
  for (const ended of ['exited', 'errored'] as const)
    expect(agentStatus({ lastPingAt: before, ended }, now)).toBe(ended);
});

const agentPool = { id: 'apool-1', name: 'build' };
const queued: Partial<Run> = { status: 'plan_queued', agentPool, plan: phase() };
const cancel = { by: 'user-1', at: '', forceAvailableAt: '' };
it.each<[string, Partial<Run>, string]>([
  ['that waits for an agent', {}, 'free'],
  ['that an agent has taken', { plan: phase({ takenUntil: after }) }, 'taken'],
  ['that an agent had taken and not begun', { plan: phase({ takenUntil: now }) }, 'free'],
  ['that an agent works on', { plan: phase({ claimNonce: 'n' }) }, 'over'],
  ['of a canceled run', { cancel }, 'over'],
  ['of a run that has ended', { status: 'errored' }, 'over'],
  ['of a run in its other phase', { status: 'apply_queued' }, 'over'],
  ['of another pool', { agentPool: { ...agentPool, id: 'apool-2' } }, 'over'],
  ['of a run without a pool', { agentPool: undefined }, 'over'],
])('a job %s is %3$s', (_, change, expected) => {
  expect(jobState(newRun({ ...queued, ...change }), 'plan', 'apool-1', now)).toBe(expected);
});

it('a job of a deleted run is over, and the job of an apply depends on that phase', () => {
  expect(jobState(undefined, 'plan', 'apool-1', now)).toBe('over');
  const applying = newRun({ agentPool, status: 'apply_queued', apply: phase({ takenUntil: after }) });
  expect(jobState(applying, 'apply', 'apool-1', now)).toBe('taken');
  expect(jobState(applying, 'plan', 'apool-1', now)).toBe('over');
});

it("an agent's runner is interrupted, then killed, and counts as gone after its report or its deadline", () => {
  const stop = (killAt: string, goneAt = after) => ({ killAt, goneAt }) as NonNullable<Phase['stop']>;
  expect([endingSignal(stop(now), now), endingSignal(stop(before), now)]).toEqual(['interrupt', 'kill']);
  expect(isAgentRunnerGone(phase(), now)).toBe(false);
  expect(isAgentRunnerGone(phase({ stop: stop(before, now) }), now)).toBe(false);
  expect(isAgentRunnerGone(phase({ stop: stop(before, before) }), now)).toBe(true);
  expect(isAgentRunnerGone(phase({ report: { outcome: 'errored' } }), now)).toBe(true);
});
