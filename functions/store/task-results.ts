import type { Timestamp } from '../run/run.ts';
import { timestampKey } from '../run/status.ts';
import type { EnforcementLevel, TaskResultStatus, TaskStage } from '../run/task-stages.ts';
import { type Key, keys } from './keys.ts';
import { get, update } from './table.ts';

/** What became of one task in one stage of one run. */
export interface TaskResult {
  id: string;
  runId: string;
  stage: TaskStage;
  taskId: string;
  /** As it was when the run was created. */
  taskName: string;
  taskUrl: string;
  /** Absent when the task is there because it is global. */
  workspaceTaskId?: string;
  enforcementLevel: EnforcementLevel;
  isSpeculative: boolean;
  status: TaskResultStatus;
  statusTimestamps: Record<string, Timestamp>;
  message?: string;
  url?: string;
  /** Task token of the execution that waits for it; never leaves the control plane. */
  token?: string;
  /** SHA-256 of the access tokens its requests were sent with: one for each time the state was entered. */
  accessTokenHashes?: Set<string>;
  /** From then on its access tokens are worth nothing. */
  accessExpiresAt?: Timestamp;
  /** The task has answered 200 to the request. */
  acknowledgedAt?: Timestamp;
  /** Bucket object of its outcomes, another one after each change; and how many there are. */
  outcomesKey?: string;
  outcomeCount?: number;
  createdAt: Timestamp;
  updatedAt: Timestamp;
}

const form = /^taskrs-([A-Za-z0-9]{16})([1-4][A-Za-z0-9]{8})$/;

const keyOf = (id: string): Key | undefined => {
  const [, characters, rest] = form.exec(id) ?? [];
  return characters && rest ? keys.taskResult(`run-${characters}`, rest) : undefined;
};

const now = (): string => new Date().toISOString();

type NewResult = Omit<TaskResult, 'status' | 'statusTimestamps' | 'createdAt' | 'updatedAt'>;

/** A pending result, and where it belongs. */
export const newTaskResult = (given: NewResult): { key: Key; result: TaskResult } => {
  const at = now();
  const key = keyOf(given.id);
  if (!key) throw new Error(`${given.id} is no id of a task result`);
  return { key, result: { ...given, status: 'pending', statusTimestamps: {}, createdAt: at, updatedAt: at } };
};

export const getTaskResult = async (id: string): Promise<TaskResult | undefined> => {
  const key = keyOf(id);
  return key && get<TaskResult>(key);
};

export type ResultChange = Pick<Partial<TaskResult>, 'message' | 'url' | 'outcomesKey' | 'outcomeCount'>;

/** One conditional write of a result that is not final; undefined when it is. `status` is stamped once. */
export const changeTaskResult = (
  result: TaskResult,
  status: TaskResultStatus,
  change: ResultChange = {},
): Promise<TaskResult | undefined> => {
  const at = now();
  const stamp = timestampKey(status);
  return update<TaskResult>(keyOf(result.id) as Key, {
    set: {
      ...change,
      status,
      updatedAt: at,
      ...(result.statusTimestamps[stamp] ? {} : { [`statusTimestamps.${stamp}`]: at }),
    },
    condition: 'status IN (:pending, :running)',
    values: { ':pending': 'pending', ':running': 'running' },
  });
};
