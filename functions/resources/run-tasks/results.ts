import { hashSecret, newSecret } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { get, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { type Attempt, notSuperseded, orderOf } from '#run/attempts.ts';
import type { TaskStage } from '#run/check-record.ts';
import { partTimestampKey, type Timestamp } from '#run/status.ts';
import { type EnforcementLevel, isResultFinal, type TaskResultStatus } from '#run/task-stages.ts';

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
  /** Which attempt has written the token. */
  order?: string;
  /** Since when it waits. */
  waitingSince?: Timestamp;
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

type NewResult = Omit<TaskResult, 'status' | 'statusTimestamps' | 'createdAt' | 'updatedAt'>;

/** A pending result, and where it belongs. */
export const newTaskResult = (values: NewResult): { key: Key; result: TaskResult } => {
  const at = now();
  const key = keyOf(values.id);
  if (!key) throw new Error(`${values.id} is not a task result id`);
  return { key, result: { ...values, status: 'pending', statusTimestamps: {}, createdAt: at, updatedAt: at } };
};

export const getTaskResult = async (id: string): Promise<TaskResult | undefined> => {
  const key = keyOf(id);
  return key && get<TaskResult>(key);
};

export type ResultChange = Pick<Partial<TaskResult>, 'message' | 'url' | 'outcomesKey' | 'outcomeCount'>;

/**
 * One conditional write of a result as it was read; undefined when it is final meanwhile, or has other outcomes. A
 * canceled one may still be noted as unreachable. `status` is stamped once.
 */
export const changeTaskResult = (
  result: TaskResult,
  status: TaskResultStatus,
  change: ResultChange = {},
): Promise<TaskResult | undefined> => {
  const at = now();
  const stamp = partTimestampKey(status);
  return update<TaskResult>(keyOf(result.id) as Key, {
    set: {
      ...change,
      status,
      updatedAt: at,
      ...(result.statusTimestamps[stamp] ? {} : { [`statusTimestamps.${stamp}`]: at }),
    },
    condition: `status IN (:pending, :running, :was) AND ${result.outcomesKey ? 'outcomesKey = :seen' : 'attribute_not_exists(outcomesKey)'}`,
    values: {
      ':pending': 'pending',
      ':running': 'running',
      ':was': result.status === 'canceled' ? 'canceled' : 'pending',
      ...(result.outcomesKey ? { ':seen': result.outcomesKey } : {}),
    },
  });
};

/** How long a run waits for a result, and for a word of it, in seconds; as in infra/stack/lifecycle.ts. */
export const resultSeconds = 3600;

export const silenceSeconds = 600;

/** A callback may be under way when its time is over. */
const graceSeconds = 300;

const prefix = 'sft_';

const tokenForm = /^sft_([A-Za-z0-9]{25})\.[A-Za-z0-9_-]{43}$/;

/** The result that an access token says it is of; undefined when it is no access token. */
export const resultIdIn = (accessToken: string): string | undefined => {
  const [, characters] = tokenForm.exec(accessToken) ?? [];
  return characters && `taskrs-${characters}`;
};

/** Begins every such token, so that scanners for leaked secrets can know it. */
export const isAccessToken = (secret: string): boolean => secret.startsWith(prefix);

/** The result that the token opens; undefined when it is unknown or has expired. 1 read. */
export const findResultOfAccessToken = async (accessToken: string): Promise<TaskResult | undefined> => {
  const id = resultIdIn(accessToken);
  const result = id ? await getTaskResult(id) : undefined;
  // A digest is looked up, not compared by content that could be guessed piece by piece.
  if (!result?.accessTokenHashes?.has(hashSecret(accessToken))) return undefined;
  return (result.accessExpiresAt ?? '') > now() ? result : undefined;
};

/**
 * Keeps the token of the execution that begins to wait, and makes an access token for the task's request. Waiting again
 * is a repeat: earlier access tokens stay good, since a task may have them. Undefined when there is no such result, or
 * another attempt waits since.
 */
export const awaitResult = async (
  id: string,
  attempt: Attempt,
): Promise<{ result: TaskResult; accessToken: string } | undefined> => {
  const key = keyOf(id);
  const order = orderOf(attempt);
  const last = notSuperseded('order', order);
  const accessToken = `${prefix}${id.replace(/^taskrs-/, '')}.${newSecret()}`;
  const result =
    key &&
    (await update<TaskResult>(key, {
      set: {
        token: attempt.token,
        order,
        waitingSince: now(),
        accessExpiresAt: new Date(Date.now() + (resultSeconds + graceSeconds) * 1000).toISOString(),
      },
      add: { accessTokenHashes: new Set([hashSecret(accessToken)]) },
      condition: ['attribute_exists(pk)', last.condition].filter(Boolean).join(' AND '),
      values: last.values,
    }));
  return result && { result, accessToken };
};

/** The task has answered the request; unless it has said more already, it is at work. */
export const acknowledgeResult = async (result: TaskResult): Promise<void> => {
  const key = keyOf(result.id) as Key;
  const at = now();
  await update(key, { set: { acknowledgedAt: at }, condition: 'attribute_exists(pk)' });
  await update(key, {
    set: { status: 'running', updatedAt: at, 'statusTimestamps.running-at': at },
    condition: 'status = :pending',
    values: { ':pending': 'pending' },
  });
};

/**
 * Ends a result for want of what its task has to say; one that is final stays as it is. Undefined when there is none.
 */
export const settleResult = async (
  id: string,
  status: 'errored' | 'canceled',
  message?: string,
): Promise<TaskResult | undefined> => {
  for (;;) {
    const result = await getTaskResult(id);
    if (!result || isResultFinal(result.status)) return result;
    const changed = await changeTaskResult(result, status, { message: message?.slice(0, maxMessage) });
    if (changed) return changed;
  }
};

/** Characters of a result's message. */
export const maxMessage = 1000;
