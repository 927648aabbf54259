import type { Phase, PhaseName, Run } from './run.ts';
import { isFinal, type RunStatus, type Timestamp } from './status.ts';

/** Runs that agents do: how an agent is, and what has become of a job in its pool's queue. Pure. */

export type AgentStatus = 'idle' | 'busy' | 'unknown' | 'errored' | 'exited';

export interface AgentFacts {
  lastPingAt: Timestamp;
  /** What it works on. */
  job?: { runId: string; phase: PhaseName };
  /** How it said that it ends. */
  ended?: 'exited' | 'errored';
}

/** Agents ping so often. */
export const pingSeconds = 30;
/** Who has not pinged for so long has missed some, and may be gone. */
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

/** A runner of an agent that is told to end has so long for it (runner/control.ts), then Terraform is killed. */
export const endingMs = 85_000;
/** Then nothing of it runs any more: one that hears nothing of this ends by itself (runner/conclude.ts). */
export const agentGoneMs = 130_000;

/** The signal for a runner that was told to stop. */
export const endingSignal = ({ killAt }: NonNullable<Phase['stop']>, now: Timestamp): 'interrupt' | 'kill' =>
  now > killAt ? 'kill' : 'interrupt';

/** Whether whatever an agent has started for the phase is gone, as far as can be known from afar. */
export const isAgentRunnerGone = ({ report, stop }: Phase, now: Timestamp): boolean =>
  report !== undefined || (stop !== undefined && now > stop.goneAt);
