import { environment } from '#platform/environment.ts';
import { getRuns } from '#resources/runs/records.ts';
import type { Run } from '#run/run.ts';
import { isFinal, timestampKey } from '#run/status.ts';
import { type Container, stopRunner } from './launcher.ts';
import { getWarmRunners, isWarmRunner, type WarmRunner } from './warm-runners.ts';

/**
 * Stops containers that no run needs. A runner exits after its work; a runner that hangs costs money until it is
 * stopped. The list comes from ECS, not from the table, to include containers that were never recorded.
 */

/** Longer than a runner needs after its report (runner/program/deferred-uploads.ts). */
const graceMs = 5 * 60_000;
const atOnce = 100;

const before = (time: string | undefined, now: number): boolean => !!time && Date.parse(time) < now - graceMs;

/** Includes a runner that is not ready any more after its plan. */
const isStray = ({ taskId, createdAt }: Container, run: Run | undefined, now: number): boolean => {
  if (!run) return before(createdAt, now);
  if (isFinal(run.status)) return before(run.statusTimestamps[timestampKey(run.status)], now);
  const { plan, apply } = run;
  const hasPlanned = !!plan.report && plan.taskId === taskId && apply.taskId !== taskId;
  return hasPlanned && before(plan.ready?.until ?? plan.statusTimestamps['finished-at'], now);
};

/** Retired runners, and reserved ones that never claimed, exit by themselves: they are stray only after {@link graceMs}. */
const isWarmStray = (container: Container, warm: WarmRunner, run: Run | undefined, now: number): boolean => {
  const { reserved, retiredAt } = warm;
  if (!reserved) return retiredAt ? before(retiredAt, now) : !environment.warmRunners && before(warm.startedAt, now);
  const isTaken = run?.plan.taskId === container.taskId || run?.apply.taskId === container.taskId;
  return before(reserved.at, now) && (!isTaken || isStray(container, run, now));
};

/**
 * Stops those containers that are stray.
 * @returns the run or warm runner that each was started for
 */
export const stopStrayRunners = async (containers: Container[], now = Date.now()): Promise<string[]> => {
  const stopped: string[] = [];
  for (let i = 0; i < containers.length; i += atOnce) {
    const some = containers.slice(i, i + atOnce);
    const starters = [...new Set(some.map(({ startedBy }) => startedBy))];
    const warmIds = starters.filter(isWarmRunner);
    const warm = new Map((await getWarmRunners(warmIds)).map((one) => [one.id, one]));
    const runIdOf = ({ startedBy }: Container) => warm.get(startedBy)?.reserved?.runId ?? startedBy;
    const runIds = [...new Set(some.map(runIdOf))].filter((id) => !isWarmRunner(id));
    const runs = await getRuns(runIds);
    const runById = new Map(runs.map((run) => [run.id, run]));
    for (const container of some) {
      const { taskId, startedBy } = container;
      const own = warm.get(startedBy);
      const run = runById.get(runIdOf(container));
      if (!(own ? isWarmStray(container, own, run, now) : isStray(container, run, now))) continue;
      await stopRunner(taskId, 'no run needs this runner');
      stopped.push(startedBy);
    }
  }
  return stopped;
};
