import { environment } from '#platform/environment.ts';
import { hashSecret, newSecret } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { get, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { type Attempt, notSuperseded, orderOf } from '#run/attempts.ts';
import type { TaskStage } from '#run/check-record.ts';
import { partTimestampKey, type Timestamp } from '#run/status.ts';
import { type EnforcementLevel, isResultFinal, type TaskResultStatus } from '#run/task-stages.ts';

/** Result of one task in one stage of one run. */
export interface TaskResult {
  id: string;
  runId: string;
  stage: TaskStage;
  taskId: string;
  /** The task's name when the run was created. */
  taskName: string;
  taskUrl: string;
  /** Absent for a global task. */
  workspaceTaskId?: string;
  enforcementLevel: EnforcementLevel;
  isSpeculative: boolean;
  status: TaskResultStatus;
  statusTimestamps: Record<string, Timestamp>;
  message?: string;
  url?: string;
  /** Task token of the waiting execution; never leaves the control plane. */
  token?: string;
  /** Attempt that wrote the token. */
  order?: string;
  /** Start of the wait. */
  waitingSince?: Timestamp;
  /** SHA-256 of the access tokens in its requests, one for each time the state was entered. */
  accessTokenHashes?: Set<string>;
  /** Its access tokens are rejected from then on. */
  accessExpiresAt?: Timestamp;
  /** When the task answered the request with 200. */
  acknowledgedAt?: Timestamp;
  /** Key of the object with its outcomes, which each change replaces, and their number. */
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
 * Changes a result with one conditional write; undefined when it became final or its outcomes changed since it was
 * read. A canceled result can still be marked as unreachable. Sets the timestamp of `status` once.
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

/**
 * Maximum seconds that a run waits for a result, and between two progress updates; as in infra/stack/state-builders.ts
 * and infra/local/aws/step-functions/run-task-limits.ts.
 */
export const resultSeconds = (): number => 6 * silenceSeconds();

export const silenceSeconds = (): number => environment.runTaskSeconds;

/** Accepts callbacks that were sent before the time limit. */
const graceSeconds = 300;

const prefix = 'sft_';

const tokenForm = /^sft_([A-Za-z0-9]{25})\.[A-Za-z0-9_-]{43}$/;

/** Result id in an access token; undefined when the text is not an access token. */
export const resultIdIn = (accessToken: string): string | undefined => {
  const [, characters] = tokenForm.exec(accessToken) ?? [];
  return characters && `taskrs-${characters}`;
};

/** Prefix of access tokens, by which secret scanners recognize leaked ones. */
export const isAccessToken = (secret: string): boolean => secret.startsWith(prefix);

/** The result of the access token; undefined when it is unknown or expired. 1 read. */
export const findResultOfAccessToken = async (accessToken: string): Promise<TaskResult | undefined> => {
  const id = resultIdIn(accessToken);
  const result = id ? await getTaskResult(id) : undefined;
  // Compares hashes, so that response times do not reveal parts of a token.
  if (!result?.accessTokenHashes?.has(hashSecret(accessToken))) return undefined;
  return (result.accessExpiresAt ?? '') > now() ? result : undefined;
};

/**
 * Stores the task token of the waiting execution, and creates an access token for the request to the task. After a
 * retry, earlier access tokens stay valid, since the task may have received them. Undefined when the result does not
 * exist, or a later attempt waits.
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
        accessExpiresAt: new Date(Date.now() + (resultSeconds() + graceSeconds) * 1000).toISOString(),
      },
      add: { accessTokenHashes: new Set([hashSecret(accessToken)]) },
      condition: ['attribute_exists(pk)', last.condition].filter(Boolean).join(' AND '),
      values: last.values,
    }));
  return result && { result, accessToken };
};

/** Marks the result as running after the task acknowledged the request, unless the task has already reported more. */
export const acknowledgeResult = async (result: TaskResult): Promise<void> => {
  const key = keyOf(result.id) as Key;
  const at = now();
  await updateExisting(key, { set: { acknowledgedAt: at } });
  await update(key, {
    set: { status: 'running', updatedAt: at, 'statusTimestamps.running-at': at },
    condition: 'status = :pending',
    values: { ':pending': 'pending' },
  });
};

/**
 * Ends a result without the task's verdict; a final result stays unchanged. Undefined when the result does not exist.
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

/** Maximum length of a result's message, in characters. */
export const maxMessage = 1000;
