import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, create, get, put, query, queryAll, remove } from '#platform/store/table.ts';

/**
 * Run triggers: a successful apply in the source workspace queues a run in another workspace. The record is
 * authoritative; pointers beside both workspaces only help to find it. They are written before the record and removed
 * after it, so a leftover pointer has no effect.
 */
export interface RunTrigger {
  id: string;
  organization: string;
  /** The workspace in which runs are queued. */
  workspaceId: string;
  /** The workspace whose applies queue them. */
  sourceableId: string;
  createdAt: string;
}

/** Maximum number of sources of a workspace (HCP Terraform: run triggers), and of its targets. */
export const maxSources = 20;
export const maxTargets = 100;
/** Maximum number of workspaces searched for a loop. */
const maxVisited = 200;

type Direction = 'inbound' | 'outbound';

const prefixes: Record<Direction, string> = { inbound: 'TRIGGERIN#', outbound: 'TRIGGEROUT#' };

interface Pointer extends Key {
  runTriggerId: string;
}

export const getRunTrigger = (id: string): Promise<RunTrigger | undefined> => get<RunTrigger>(keys.runTrigger(id));

const pointersOf = (workspaceId: string, direction: Direction): Promise<Pointer[]> =>
  queryAll<Pointer>({ pk: keys.workspace(workspaceId).pk, prefix: prefixes[direction] });

const triggersOf = (pointers: Pointer[]): Promise<RunTrigger[]> =>
  batchGet<RunTrigger & Key>(pointers.map(({ runTriggerId }) => keys.runTrigger(runTriggerId)));

/** Triggers that queue runs in the workspace, or that its applies fire. 2 requests. */
export const listRunTriggers = async (workspaceId: string, direction: Direction): Promise<RunTrigger[]> =>
  triggersOf((await pointersOf(workspaceId, direction)).slice(0, maxTargets));

const count = async (workspaceId: string, direction: Direction): Promise<number> =>
  (await triggersOf(await pointersOf(workspaceId, direction))).length;

/** Counts after the write, because concurrent requests do not see each other before. 4 requests. */
const excess = async ({ workspaceId, sourceableId }: RunTrigger): Promise<Refusal | undefined> => {
  const [sources, targets] = await Promise.all([count(workspaceId, 'inbound'), count(sourceableId, 'outbound')]);
  if (sources > maxSources) return 'too many sources';
  return targets > maxTargets ? 'too many targets' : undefined;
};

/** Whether applies of the workspace may fire a trigger. 1 read. */
export const hasRunTriggers = async (workspaceId: string): Promise<boolean> => {
  const { pk } = keys.workspace(workspaceId);
  return (await query({ pk, prefix: prefixes.outbound, limit: 1, consistent: false })).length > 0;
};

/**
 * Whether applies of `from` lead to runs in `to`, through any number of workspaces; undefined when the search reaches
 * its limit.
 */
const leadsTo = async (from: string, to: string): Promise<boolean | undefined> => {
  const visited = new Set([from]);
  for (const workspaceId of visited) {
    if (workspaceId === to) return true;
    if (visited.size > maxVisited) return undefined;
    for (const trigger of await listRunTriggers(workspaceId, 'outbound')) visited.add(trigger.workspaceId);
  }
  return false;
};

export type Refusal = 'exists' | 'loop' | 'too many sources' | 'too many targets' | 'too far';

/**
 * Two concurrent requests can still create a loop together. Runs therefore carry the workspaces that led to them, and
 * are not queued in the same one twice (lifecycle/creation/triggered-runs.ts).
 */
export const createRunTrigger = async (
  organization: string,
  { workspaceId, sourceableId }: Pick<RunTrigger, 'workspaceId' | 'sourceableId'>,
): Promise<RunTrigger | Refusal> => {
  const [sources, targets, loop] = await Promise.all([
    listRunTriggers(workspaceId, 'inbound'),
    listRunTriggers(sourceableId, 'outbound'),
    leadsTo(workspaceId, sourceableId),
  ]);
  if (sources.some((trigger) => trigger.sourceableId === sourceableId)) return 'exists';
  if (loop) return 'loop';
  if (loop === undefined) return 'too far';
  if (sources.length >= maxSources) return 'too many sources';
  if (targets.length >= maxTargets) return 'too many targets';
  const trigger: RunTrigger = {
    id: newId('rt'),
    organization,
    workspaceId,
    sourceableId,
    createdAt: new Date().toISOString(),
  };
  const claim = { ...keys.runTriggerIn(workspaceId, sourceableId), runTriggerId: trigger.id };
  if (!(await create(claim)) && !(await takeOver(claim))) return 'exists';
  await put({ ...keys.runTriggerOut(sourceableId, workspaceId), runTriggerId: trigger.id });
  await create({ ...keys.runTrigger(trigger.id), ...trigger });
  const refusal = await excess(trigger);
  if (!refusal) return trigger;
  await deleteRunTrigger(trigger);
  return refusal;
};

/** Takes over the claim of a creation that was interrupted before its trigger was written. */
const takeOver = async (claim: Pointer): Promise<boolean> => {
  const holder = await get<Pointer>({ pk: claim.pk, sk: claim.sk });
  if (holder && (await getRunTrigger(holder.runTriggerId))) return false;
  return put(
    { ...claim },
    {
      condition: 'attribute_not_exists(pk) OR runTriggerId = :holder',
      values: { ':holder': holder?.runTriggerId ?? '' },
    },
  );
};

export const deleteRunTrigger = async ({ id, workspaceId, sourceableId }: RunTrigger): Promise<void> => {
  await remove(keys.runTrigger(id));
  const own = { condition: 'runTriggerId = :id', values: { ':id': id } };
  await remove(keys.runTriggerIn(workspaceId, sourceableId), own);
  await remove(keys.runTriggerOut(sourceableId, workspaceId), own);
};

/** Deletes the triggers of a deleted workspace, in both directions. */
export const deleteRunTriggersOf = async (workspaceId: string): Promise<void> => {
  const directions = await Promise.all([
    listRunTriggers(workspaceId, 'inbound'),
    listRunTriggers(workspaceId, 'outbound'),
  ]);
  for (const trigger of directions.flat()) await deleteRunTrigger(trigger);
};
