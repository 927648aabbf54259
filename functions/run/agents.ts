import type { Phase, PhaseName, Run } from './run.ts';
import { isFinal, type RunStatus, type Timestamp, timestampKey } from './status.ts';

/** Runs on agents: the status of an agent, and the state of a job in its pool's queue. Pure. */

export type AgentStatus = 'idle' | 'busy' | 'unknown' | 'errored' | 'exited';

export interface AgentFacts {
  lastPingAt: Timestamp;
  /** What it works on. */
  job?: { runId: string; phase: PhaseName };
  /** How its process ended, as it reported. */
  ended?: 'exited' | 'errored';
}

/** Interval of an agent's pings. */
export const pingSeconds = 30;
/** Without a ping for this long, an agent counts as unknown. */
export const silentMs = 4 * pingSeconds * 1000;

/** @param heardSince {@link silentMs} ago */
export const agentStatus = ({ lastPingAt, job, ended }: AgentFacts, heardSince: Timestamp): AgentStatus => {
  if (ended) return ended;
  if (lastPingAt < heardSince) return 'unknown';
  return job ? 'busy' : 'idle';
};

/** Status of a run whose phase waits for an agent. */
export const queuedStatus = { plan: 'plan_queued', apply: 'apply_queued' } as const satisfies Record<
  PhaseName,
  RunStatus
>;

/**
 * `free`: an agent of the pool may take it. `taken`: another agent is about to begin; should it die first, the job is free
 * again. `over`: nobody has to do it any more.
 */
export const jobState = (
  run: Run | undefined,
  phase: PhaseName,
  poolId: string,
  now: Timestamp,
): 'free' | 'taken' | 'over' => {
  if (!run || isFinal(run.status) || run.cancel || run.agentPool?.id !== poolId) return 'over';
  if (run.status !== queuedStatus[phase] || run[phase].claimNonce) return 'over';
  return (run[phase].takenUntil ?? '') > now ? 'taken' : 'free';
};

/** Time that an agent's runner has to end in order (runner/program/control.ts); then Terraform is killed. */
export const endingMs = 85_000;
/** Then nothing of it runs any more: a runner that is not told this ends by itself (runner/program/conclude.ts). */
export const agentGoneMs = 130_000;

/** The signal for a runner that was told to stop. */
export const endingSignal = ({ killAt }: NonNullable<Phase['stop']>, now: Timestamp): 'interrupt' | 'kill' =>
  now > killAt ? 'kill' : 'interrupt';

/** Whether everything that an agent started for the phase has ended, as far as the platform can know. */
export const isAgentRunnerGone = ({ report, stop }: Phase, now: Timestamp): boolean =>
  report !== undefined || (stop !== undefined && now > stop.goneAt);

/** Longer than a runner needs after its run has ended (runner/program/deferred-uploads.ts). */
export const afterwardsMs = 5 * 60_000;

/**
 * Whether a runner that an agent still runs hangs: it did not claim the phase in time, or its run ended a while ago.
 * @param longAgo {@link afterwardsMs} ago
 */
export const isHanging = (
  run: Run | undefined,
  phase: PhaseName,
  agent: string,
  { now, longAgo }: { now: Timestamp; longAgo: Timestamp },
): boolean => {
  if (!run) return true;
  const isOwn = run[phase].agent?.id === agent;
  if (!isOwn || !run[phase].claimNonce) return !isOwn || (run[phase].takenUntil ?? '') <= now;
  return isFinal(run.status) && (run.statusTimestamps[timestampKey(run.status)] ?? '') < longAgo;
};
