import type { Container } from '#lifecycle/runners/launcher.ts';
import { environment } from '#platform/environment.ts';
import { getRuns } from '#resources/runs/records.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { awaitedSlot, type SlotName } from '#run/slots.ts';
import { isFinal } from '#run/status.ts';
import { grantSlots, heldSlots, repairSlot, returnSlots } from './slots.ts';

/** Whether the phase's container has stopped, or was never started and never will be. */
const isOver = (run: Run | undefined, phase: PhaseName, taskIds: ReadonlySet<string>): boolean => {
  if (!run) return true;
  const { taskId, report } = run[phase];
  if (taskId && taskIds.has(taskId)) return false;
  return isFinal(run.status) || (taskId !== undefined && report !== undefined);
};

/**
 * Returns slots whose containers have stopped without an event, tells runs of slots that they got from an interrupted
 * function, and gives free slots to those that wait. 1 read if every slot has a container; nothing without limits.
 * @returns the repaired slots
 */
export const repairSlots = async (containers: Container[]): Promise<string[]> => {
  if (!environment.maxRunners) return [];
  const starters = new Set(containers.map(({ startedBy }) => startedBy));
  const taskIds = new Set(containers.map(({ taskId }) => taskId));
  const partsOf = (name: SlotName) => name.split('.') as [string, PhaseName];
  const doubtful = (await heldSlots()).map(partsOf).filter(([id]) => !starters.has(id));
  const runs = await getRuns([...new Set(doubtful.map(([id]) => id))]);
  const runById = new Map(runs.map((run) => [run.id, run]));
  const over = doubtful
    .filter(([id, phase]) => isOver(runById.get(id), phase, taskIds))
    .map(([id, phase]): SlotName => `${id}.${phase}`);
  if (over.length) await returnSlots(over);
  const untold = runs.filter((run) => awaitedSlot(run));
  for (const run of untold) await repairSlot(run, awaitedSlot(run) as PhaseName);
  const count = await grantSlots();
  return [...over, ...untold.map(({ id }) => id), ...(count ? [`${count} granted`] : [])];
};
