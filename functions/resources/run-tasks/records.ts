import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { listNamed, listNames, recordsAt } from '#platform/store/records.ts';
import { open, type SecretContext, seal } from '#platform/store/secrets.ts';
import { type Change, create, put, remove, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { queryTogether } from '#platform/store/together.ts';
import { createNamed, releaseName, rename, type UniqueNames } from '#platform/store/unique-names.ts';
import type { TaskStage } from '#run/check-record.ts';
import type { EnforcementLevel } from '#run/task-stages.ts';

/** A run task of an organization: an external service that gives a verdict on each run. */
export interface Task extends Edited {
  id: string;
  organization: string;
  name: string;
  url: string;
  description: string | null;
  enabled: boolean;
  /** While `enabled`, the task applies to every workspace of the organization. */
  global: GlobalConfiguration;
  /** Key that signs requests; encrypted, never returned. Absent: requests are not signed. */
  sealedKey?: Uint8Array;
  createdAt: string;
  updatedAt: string;
}

export interface GlobalConfiguration {
  enabled: boolean;
  stages: TaskStage[];
  enforcementLevel: EnforcementLevel;
}

export type TaskSettings = Pick<Task, 'name' | 'url' | 'description' | 'enabled' | 'global'>;
/** `hmacKey`: null removes it; undefined keeps it. */
export type TaskValues = TaskSettings & { hmacKey?: string | null };

/** Maximum number of tasks of an organization, and of global ones, which every run reads. */
export const maxTasks = 200;
export const maxGlobalTasks = 50;

interface Pointer extends Key {
  taskId: string;
}

const contextOf = ({ organization, id }: Pick<Task, 'organization' | 'id'>): SecretContext => ({
  organization,
  task: id,
});

export const { read: getTask, readAll: getTasks } = recordsAt<Task>(keys.task);

const namesOf = (organization: string) => listNames(organization, 'TASKNAME#');

/** Ordered by name. */
export const listTasks = async (organization: string): Promise<Task[]> =>
  listNamed(await namesOf(organization), getTasks, ({ name }) => name);

export const countTasks = async (organization: string): Promise<number> => (await namesOf(organization)).length;

const globalTaskIds = async (organization: string): Promise<string[]> =>
  (await queryTogether<Pointer>(keys.organization(organization).pk, 'GLOBALTASK#')).map(({ taskId }) => taskId);

/** Tasks that apply to every workspace of the organization. 1 query when there are none. */
export const listGlobalTasks = async (organization: string): Promise<Task[]> =>
  (await getTasks(await globalTaskIds(organization))).filter((task) => task.global.enabled);

/** Signing key; undefined when there is none. 1 KMS request. */
export const openHmacKey = async (task: Task): Promise<string | undefined> =>
  task.sealedKey && open(task.sealedKey, contextOf(task));

const names: UniqueNames<Task> = {
  key: ({ organization, name }) => keys.taskName(organization, name),
  find: getTask,
};

export class TooManyGlobalError extends Error {}

/**
 * Writes the pointer first: a dangling pointer is harmless, but runs would miss a global task without one. Returns
 * false, and removes the pointer, when the limit is exceeded, concurrent requests included. 1 write, 1 read.
 */
const makeGlobal = async ({ organization, id }: Task): Promise<boolean> => {
  const pointer = keys.globalTask(organization, id);
  await put({ ...pointer, taskId: id });
  if ((await globalTaskIds(organization)).length <= maxGlobalTasks) return true;
  await remove(pointer);
  return false;
};

/**
 * Undefined when the organization already has a task with this name. 2 writes; 1 more and 1 read for a global task; 1
 * KMS request with a key. @throws {TooManyGlobalError}
 */
export const createTask = async (
  organization: string,
  { hmacKey, ...settings }: TaskValues,
): Promise<Task | undefined> => {
  const at = now();
  const task: Task = { ...settings, id: newId('task'), organization, createdAt: at, updatedAt: at };
  return createNamed(names, task, async () => {
    if (hmacKey) task.sealedKey = await seal(hmacKey, contextOf(task));
    if (task.global.enabled && !(await makeGlobal(task))) throw new TooManyGlobalError();
    await create({ ...keys.task(task.id), ...task });
    return task;
  });
};

/** Undefined when the name is taken, or the task is deleted. @throws {TooManyGlobalError} */
export const updateTask = async (
  task: Task,
  { hmacKey, ...change }: Partial<TaskValues>,
  editor: Editor,
): Promise<Task | undefined> => {
  const next: Task = { ...task, ...change };
  let isFull = false;
  const updated = await rename(names, task, next, async () => {
    isFull = next.global.enabled && !task.global.enabled && !(await makeGlobal(task));
    if (isFull) return undefined;
    const edit: Change = {
      set: { ...change, updatedAt: now(), ...(hmacKey ? { sealedKey: await seal(hmacKey, contextOf(task)) } : {}) },
      remove: hmacKey === null ? ['sealedKey'] : [],
    };
    const written = await updateExisting<Task>(keys.task(task.id), asEdit(edit, editor));
    if (written && !written.global.enabled) await remove(keys.globalTask(task.organization, task.id));
    return written;
  });
  if (isFull) throw new TooManyGlobalError();
  return updated === 'name taken' ? undefined : updated;
};

/** Existing runs no longer request it: their results become errored, with the reason. Can be repeated. */
export const deleteTask = async (task: Task): Promise<void> => {
  await remove(keys.task(task.id));
  await remove(keys.globalTask(task.organization, task.id));
  await releaseName(names, task);
};
