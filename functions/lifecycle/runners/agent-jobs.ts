import { newClaim } from '#lifecycle/phases/phases.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { query, remove, update } from '#platform/store/table.ts';
import { expiryIn } from '#platform/store/time.ts';
import { recordRunEvent } from '#resources/runs/events.ts';
import { getRuns, updateRun } from '#resources/runs/records.ts';
import { jobState, queuedStatus } from '#run/agents.ts';
import { isHidden } from '#run/hidden.ts';
import type { PhaseName, Run } from '#run/run.ts';

/**
 * Queues of agent pools. An entry points to a run whose plan or apply waits for an agent. Only the run contains the
 * agent of a job, so that one conditional write assigns it; readers remove outdated entries.
 */

interface Job extends Key {
  runId: string;
  phase: PhaseName;
}

const timestamp = 'agent-queued-at';

/** Whether the job was queued for agents. */
export const isJobQueued = (run: Run, phase: PhaseName): boolean =>
  run[phase].statusTimestamps[timestamp] !== undefined;

/** A run waits at most an hour for an agent (infra/stack/lifecycle.ts); then DynamoDB may remove its entry. */
const keptSeconds = 24 * 3600;

/** Queues a phase of a run in its pool, and adds this to the run's timeline. 3 writes; idempotent. */
export const queueJob = async (run: Run, phase: PhaseName): Promise<void> => {
  const { id, agentPool } = run;
  if (!agentPool) return;
  const at = run.statusTimestamps[phase === 'plan' ? 'plan-queued-at' : 'apply-queued-at'] ?? run.createdAt;
  // Hidden runs come last: `A` sorts after every digit.
  await update(keys.agentJob(agentPool.id, isHidden(run) ? `A${at}` : at, id, phase), {
    set: { runId: id, phase, expiresAt: expiryIn(keptSeconds) },
  });
  const description = `The ${phase} is waiting for an agent of pool ${agentPool.name}.`;
  await recordRunEvent(run, `${phase}_agent_queued`, undefined, undefined, at, description);
  await updateRun(id, { set: { [`${phase}.statusTimestamps.${timestamp}`]: at } });
};

/** Longer than a runner retries its claim (runner/program/client.ts). */
const beginMs = 100_000;
const pieceSize = 25;

export interface TakenJob {
  run: Run;
  phase: PhaseName;
  /** The claim that the runner is started with. */
  claim: string;
}

interface Taker {
  id: string;
  name: string;
  poolId: string;
}

const take = async (agent: Taker, { runId, phase }: Job, now: string): Promise<TakenJob | undefined> => {
  // Only the agent that takes the job gets the secret; an earlier agent's claim becomes void.
  const { secret, set } = newClaim(phase);
  const run = await updateRun(runId, {
    set: {
      ...set,
      [`${phase}.agent`]: { id: agent.id, name: agent.name },
      [`${phase}.takenUntil`]: new Date(Date.parse(now) + beginMs).toISOString(),
    },
    condition: `#status = :queued AND agentPool.id = :pool AND attribute_not_exists(${phase}.claimNonce) AND attribute_not_exists(cancel) AND (attribute_not_exists(${phase}.takenUntil) OR ${phase}.takenUntil <= :now)`,
    values: { ':queued': queuedStatus[phase], ':pool': agent.poolId, ':now': now },
  });
  return run && { run, phase, claim: `${run.id}.${phase}.${secret}` };
};

/** Gives the agent the oldest free job of its pool. 1 read if there is none; two agents never get the same job. */
export const takeJob = async (agent: Taker): Promise<TakenJob | undefined> => {
  const now = new Date().toISOString();
  for (let after = 'JOB#', more = true; more; ) {
    const jobs = await query<Job>({ pk: keys.agentPool(agent.poolId).pk, from: after, to: 'JOB#~', limit: pieceSize });
    const runs = await getRuns([...new Set(jobs.map(({ runId }) => runId))]);
    for (const job of jobs) {
      const run = runs.find(({ id }) => id === job.runId);
      const state = jobState(run, job.phase, agent.poolId, now);
      if (state === 'over') await remove({ pk: job.pk, sk: job.sk });
      const taken = state === 'free' ? await take(agent, job, now) : undefined;
      if (taken) return taken;
    }
    more = jobs.length === pieceSize;
    after = `${jobs.at(-1)?.sk}!`;
  }
  return undefined;
};
