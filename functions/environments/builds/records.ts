import { setOrRemove } from '#platform/store/edits.ts';
import type { Key } from '#platform/store/keys.ts';
import { batchGet, create, get, put, query, remove, update, updateExisting } from '#platform/store/table.ts';
import type { Job } from '../jobs.ts';
import { keys } from '../keys.ts';
import type { TemplateResource } from '../templates/plan.ts';
import type { Value } from './parameters.ts';

/** Builds: transitions of one environment, each with a state of its own. */

export type Transition = 'start' | 'stop' | 'delete';

/** A start that follows a stop. */
export interface Restart {
  versionId: string;
  parameters: Value[];
  presetId?: string | undefined;
  reason: string;
}

export interface Build extends Job {
  id: string;
  environmentId: string;
  number: number;
  transition: Transition;
  reason: string;
  versionId: string;
  versionName: string;
  initiatorName: string;
  updatedAt: string;
  parameters: Value[];
  presetId?: string | undefined;
  /** Reason why the build needs no run. */
  withoutRun?: 'orphan' | 'no state';
  /** Requested with `log_level: debug`. */
  isDebugged?: boolean | undefined;
  /** State version at the build's start; once the build is complete, the version after it. Absent: no state. */
  stateVersionId?: string;
  resources?: TemplateResource[];
  /** Cost of its resources, from the template or else from the cost estimate. */
  dailyCost?: number;
  deadline?: string;
  maxDeadline?: string;
  /** Of a stop: the build that the sweep starts once it has succeeded. */
  restart?: Restart | undefined;
  /** Set for a build that creates, deletes or hands over a prebuild. */
  prebuild?: 'pool' | 'claim';
  /** A message at the end of the log, shown to users. */
  note?: { level: 'info' | 'warn'; text: string };
}

export const costOf = (build: Build | undefined): number =>
  build?.dailyCost ?? (build?.resources ?? []).reduce((sum, { dailyCost }) => sum + dailyCost, 0);

export const getBuild = (id: string): Promise<Build | undefined> => get<Build>(keys.build(id));

interface Pointer {
  buildId: string;
}

export const getBuilds = async (ids: string[]): Promise<Map<string, Build>> => {
  const records = await batchGet<Build & Key>([...new Set(ids)].map(keys.build));
  return new Map(records.map((build) => [build.id, build]));
};

export const findBuild = async (environmentId: string, n: number): Promise<Build | undefined> => {
  const pointer = await get<Pointer>(keys.buildNumber(environmentId, n));
  return pointer && getBuild(pointer.buildId);
};

/** Newest first. */
export const listBuilds = async (environmentId: string, limit: number): Promise<Build[]> => {
  const { pk } = keys.environment(environmentId);
  const pointers = await query<Pointer>({ pk, prefix: 'BUILD#', reverse: true, limit });
  const builds = await getBuilds(pointers.map(({ buildId }) => buildId));
  return pointers.flatMap(({ buildId }) => builds.get(buildId) ?? []);
};

export const createBuild = async (build: Build): Promise<void> => {
  await create({ ...keys.build(build.id), ...build });
};

/** Lists a build under its environment, once it has claimed the environment. Can be repeated. */
export const numberBuild = async ({ id, environmentId, number }: Build): Promise<void> => {
  await put({ ...keys.buildNumber(environmentId, number), buildId: id });
};

/** Removes a build that lost the race for its environment. */
export const forgetBuild = async ({ id }: Build): Promise<void> => {
  await remove(keys.build(id));
};

/** Records the build's end, once. Undefined if it has ended before. */
export const completeBuild = (id: string, set: Partial<Build>): Promise<Build | undefined> =>
  updateExisting<Build>(keys.build(id), {
    set: { ...set, updatedAt: new Date().toISOString() },
    condition: 'attribute_not_exists(completedAt)',
  });

/** Gives up the start that would follow the stop. */
export const dropRestart = async (id: string, reason: string): Promise<void> => {
  const note: Build['note'] = { level: 'warn', text: `Not started again: ${reason}` };
  await update<Build>(keys.build(id), {
    set: { note, updatedAt: new Date().toISOString() },
    remove: ['restart'],
    condition: 'attribute_exists(restart)',
  });
};

export const setBuild = (
  id: string,
  set: { [K in 'deadline' | 'stateVersionId']?: Build[K] | undefined },
): Promise<Build | undefined> =>
  updateExisting<Build>(keys.build(id), setOrRemove({ ...set, updatedAt: new Date().toISOString() }));
