import { endHidden } from '#lifecycle/creation/hidden-runs.ts';
import { completeUpgrade } from '#lifecycle/creation/module-upgrades.ts';
import { leaveQueue } from '#lifecycle/queue/queue.ts';
import { findUnsaved } from '#lifecycle/queue/unsaved-states.ts';
import { isRunnerGone, runnersOf, stopRunner } from '#lifecycle/runners/launcher.ts';
import { recordedResources } from '#lifecycle/runners/lost-runners.ts';
import { leaveSlots } from '#lifecycle/slots/slots.ts';
import { endAssessment } from '#lifecycle/timers/end-assessment.ts';
import { checkIn, dueAttributes } from '#platform/store/due.ts';
import { keepRunEvent } from '#resources/audit/records.ts';
import { storeLog } from '#resources/runs/logs.ts';
import { getRun, getRunEventually, statusChange, updateRun } from '#resources/runs/records.ts';
import { leaveSavedPlans } from '#resources/runs/saved-plans.ts';
import { hasRunTriggers } from '#resources/runs/triggers.ts';
import { deleteSuperseded, recoverState } from '#resources/states/snapshots.ts';
import { agentGoneMs, endingMs, isAgentRunnerGone } from '#run/agents.ts';
import { completed } from '#run/checks.ts';
import { type CaughtError, endReason, finalPhases, statusAtEnd } from '#run/ending.ts';
import { isHidden } from '#run/hidden.ts';
import type { Ending } from '#run/machine-states.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { stoppingReason } from '#run/stopping.ts';

/** The runner got the stop signal and has not stopped yet. Retry soon. */
export class RunnerStillStoppingError extends Error {
  override name = 'RunnerStillStoppingError';
}

/**
 * Ends a run: stops its runner, writes the final status, releases the workspace and starts the next run. Idempotent:
 * a repeated call completes an interrupted one, and a final run keeps its status.
 *
 * @param keepDue keeps the run due for the sweep until the caller, which may not be retried, has finished
 * @returns the ended run; undefined if it does not exist
 * @throws {RunnerStillStoppingError} while the runner's process may still run; until then the next run must not start
 */
export const finishRun = async (
  runId: string,
  ending: Ending,
  error?: CaughtError,
  { keepDue = false } = {},
): Promise<Run | undefined> => {
  const run = await toFinish(runId, ending);
  if (!run) return undefined;
  const ended = isFinal(run.status) ? run : await settle(run, ending, error, keepDue);
  await release(ended);
  return ended;
};

/** A reported apply contains everything needed to finish it: an eventually consistent read is enough. */
const toFinish = async (runId: string, ending: Ending): Promise<Run | undefined> => {
  const shown = ending === 'Applied' ? await getRunEventually(runId) : undefined;
  return shown?.apply.report && !isFinal(shown.status) ? shown : getRun(runId);
};

/** Call it after the final status was written. Idempotent. */
export const release = async (run: Run): Promise<void> => {
  await completeUpgrade(run);
  await leaveSlots(run);
  if (run.assessment) return endAssessment(run);
  await (isHidden(run) ? endHidden(run) : leaveQueue(run));
  await deleteSuperseded(run);
};

const settle = async (run: Run, ending: Ending, error: CaughtError | undefined, keepDue: boolean): Promise<Run> => {
  const reported = await ensureRunnerIsGone(run, ending).catch(async (stopping) => {
    await recordStopping(run, error);
    throw stopping;
  });
  // A report that the runner sent while it was being stopped counts.
  const latest = reported ? run : ((await getRun(run.id)) ?? run);
  const status = statusAtEnd(latest, ending);
  const phases = finalPhases(latest, ending);
  // Before another run plans from the state, and before the state's content is reported.
  if (ending !== 'Applied' && latest.apply.claimNonce) await recoverState(latest);
  const recorded =
    latest.apply.status === 'running' && ending !== 'Applied' ? await recordedResources(run.workspaceId) : undefined;
  // The runner has stopped, so it cannot store anything after this.
  const unsaved = ending !== 'Applied' && latest.apply.claimNonce ? await findUnsaved(latest) : undefined;
  const reason = endReason({ ...latest, unsaved }, ending, error, recorded);
  const at = new Date().toISOString();
  // The item stays due until run-applied.ts has queued the triggered runs.
  const follows = ending === 'Applied' && (await hasRunTriggers(run.workspaceId));
  const cutOff = (['plan', 'apply'] as const).filter((phase) => {
    const had = latest[phase].status;
    return (had === 'queued' || had === 'running') && !latest[phase].report?.artifacts?.log;
  });
  for (const phase of cutOff) {
    await storeLog(run.id, phase, reason ?? (status === 'canceled' ? 'The run was canceled.' : ''));
  }
  if (run.savePlan) await leaveSavedPlans(run, { applied: ending === 'Applied' || phases.apply === 'finished' });
  const ended = await updateRun(run.id, {
    set: {
      ...statusChange({ status, ...phases, passed: completed(latest) }, latest, at),
      endReason: reason,
      unsaved,
      ...Object.fromEntries(cutOff.map((phase) => [`${phase}.logStored`, true])),
      ...(follows ? checkIn(run.id, 60) : {}),
    },
    remove: [
      'wait',
      ...(keepDue || follows ? [] : dueAttributes),
      ...(latest.endReason && !reason ? ['endReason'] : []),
      ...(['plan', 'apply'] as const).flatMap((phase) => [
        `${phase}.tokenHash`,
        `${phase}.claimHash`,
        `${phase}.ready`,
      ]),
    ],
    // The apply of a runner that claims now would have an ended run, and its workspace another one.
    ...(latest.apply.claimNonce ? {} : { condition: 'attribute_not_exists(apply.claimNonce)' }),
  });
  const current = ended ?? (await getRun(run.id)) ?? latest;
  if (!isFinal(current.status)) throw new RunnerStillStoppingError(`A runner has just claimed the apply of ${run.id}.`);
  // A user's discard is already in the audit trail.
  if (isHidden(run)) return current;
  const isRecorded =
    status === 'discarded' && latest.decision?.action === 'discard' && latest.decision.by !== undefined;
  if (!isRecorded) await keepRunEvent(latest, status, at);
  return current;
};

/** Shows why the run is stopping: the runner can take three minutes to stop. The final reason replaces this one. */
const recordStopping = async (run: Run, error: CaughtError | undefined): Promise<void> => {
  const reason = stoppingReason(run, error);
  if (reason && !run.endReason) await updateRun(run.id, { set: { endReason: reason } });
};

/** An agent's runner gets the stop request with its next heartbeat. It has as much time to stop as a container. */
const ensureAgentRunnerIsGone = async (run: Run, phase: PhaseName): Promise<void> => {
  const { agent, claimNonce, stop } = run[phase];
  if (!claimNonce || isAgentRunnerGone(run[phase], new Date().toISOString())) return;
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  if (!stop) {
    await updateRun(run.id, {
      set: { [`${phase}.stop`]: { killAt: inMs(endingMs), goneAt: inMs(agentGoneMs) } },
      condition: `attribute_not_exists(${phase}.stop)`,
    });
  }
  throw new RunnerStillStoppingError(`The runner of ${run.id} has not stopped yet (agent ${agent?.name}).`);
};

/**
 * A runner that reported has ended Terraform. Any other container is stopped, and has to stop before the run ends.
 * @returns whether the run has a report
 */
const ensureRunnerIsGone = async (run: Run, ending: Ending): Promise<boolean> => {
  const has = ({ taskId, claimNonce }: Run[PhaseName]) => taskId !== undefined || claimNonce !== undefined;
  const phase: PhaseName | undefined = has(run.apply) ? 'apply' : has(run.plan) ? 'plan' : undefined;
  if (!phase) return false;
  const { taskId, report, claimNonce, agent } = run[phase];
  if (agent) {
    await ensureAgentRunnerIsGone(run, phase);
    return false;
  }
  if (report && !run.cancel?.forced) return true;
  // The launcher may have stopped before it wrote the container's ARN.
  const taskIds = taskId ? [taskId] : await runnersOf(run.id);
  await Promise.all(taskIds.map((one) => stopRunner(one, `${statusAtEnd(run, ending)}: ${run.id}`)));
  // A runner that never claimed has no token, so it can do nothing.
  if (!claimNonce) return false;
  for (const one of taskIds) {
    if (await isRunnerGone(one)) continue;
    throw new RunnerStillStoppingError(`The runner of ${run.id} has not stopped yet (${one}).`);
  }
  return false;
};
