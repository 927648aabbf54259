import type { Run } from '../run/run.ts';
import { isFinal, timestampKey } from '../run/status.ts';
import { type Key, keys } from '../store/keys.ts';
import { batchGet } from '../store/table.ts';
import { runningContainers, stopRunner } from './launcher.ts';

/**
 * Containers that nobody waits for: a runner goes by itself when its work is done, unless it hangs, and then it costs until
 * somebody looks. ECS is asked, and not the table, so that those are found too that nobody wrote down.
 */

/** What a runner may still have to do when all is reported (runner/deferred-uploads.ts), and more. */
const graceMs = 5 * 60_000;
const atOnce = 100;

const before = (time: string | undefined, now: number): boolean => !!time && Date.parse(time) < now - graceMs;

/** Also one that stood by after the plan, and was offered nothing. */
const isStray = (arn: string, createdAt: string | undefined, run: Run | undefined, now: number): boolean => {
  if (!run) return before(createdAt, now);
  if (isFinal(run.status)) return before(run.statusTimestamps[timestampKey(run.status)], now);
  const { plan, apply } = run;
  return !!plan.report && plan.taskArn === arn && apply.taskArn !== arn && before(plan.heldUntil, now);
};

/** Asks them to go. 1 request to ECS when there is no container at all. @returns what each was started for */
export const stopStrayRunners = async (now = Date.now()): Promise<string[]> => {
  const stopped: string[] = [];
  const containers = await runningContainers();
  for (let i = 0; i < containers.length; i += atOnce) {
    const some = containers.slice(i, i + atOnce);
    const ids = [...new Set(some.map(({ startedBy }) => startedBy))];
    const runs = await batchGet<Run & Key>(ids.map(keys.run));
    const byId = new Map(runs.map((run) => [run.id, run]));
    for (const { arn, startedBy, createdAt } of some) {
      if (!isStray(arn, createdAt, byId.get(startedBy), now)) continue;
      await stopRunner(arn, 'no run needs this runner');
      stopped.push(startedBy);
    }
  }
  return stopped;
};
