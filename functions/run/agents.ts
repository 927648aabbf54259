import type { Phase, PhaseName, Run } from './run.ts';
import { isFinal, type RunStatus, type Timestamp, timestampKey } from './status.ts';

/** Runs on agents: the status of an agent, and the state of a job in its pool's queue. Pure. */

export type AgentStatus = 'idle' | 'busy' | 'unknown' | 'errored' | 'exited';

export interface AgentFacts {
  lastPingAt: Timestamp;
  /** The phase that it executes. */
  job?: { runId: string; phase: PhaseName };
  /** How its process ended, as reported by the agent. */
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
 * `free`: an agent of the pool may take it. `taken`: another agent is about to start it; if that agent dies first, the
 * job is free again. `over`: no agent has to do it any more.
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

/** Time for an agent's runner to shut down cleanly (runner/program/control.ts); after it, Terraform is killed. */
export const endingMs = 85_000;
/**
 * Time until the agent's runner has certainly ended: a runner that does not receive the signal ends by itself
 * (runner/program/conclude.ts).
 */
export const agentGoneMs = 130_000;

/** The signal for a runner that has to stop. */
export const endingSignal = ({ killAt }: NonNullable<Phase['stop']>, now: Timestamp): 'interrupt' | 'kill' =>
  now > killAt ? 'kill' : 'interrupt';

/** Whether the agent's runner has ended, as far as the platform can know. */
export const isAgentRunnerGone = ({ report, stop }: Phase, now: Timestamp): boolean =>
  report !== undefined || (stop !== undefined && now > stop.goneAt);

/** Longer than a runner needs after its run has ended (runner/program/deferred-uploads.ts). */
export const afterwardsMs = 5 * 60_000;

/**
 * Whether a runner of an agent hangs: it did not claim the phase in time, or its run ended a while ago.
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
