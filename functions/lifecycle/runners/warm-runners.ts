import { environment } from '#platform/environment.ts';
import { hashSecret, newId, newSecret } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { logWarning } from '#platform/store/log.ts';
import { batchGet, create, get, update, updateExisting } from '#platform/store/table.ts';
import { expiryIn } from '#platform/store/time.ts';
import type { PhaseName } from '#run/run.ts';
import { targetCount } from '#run/warm-runners.ts';
import { CapacityUnavailableError, runContainer } from './launcher.ts';

/**
 * Runners that are started before a run needs them, because a container takes most of a minute to start. Each has an
 * item. The ids of idle runners are a set in one more item; a write that adds a runner checks the set's size, which
 * limits their number.
 *
 * | a runner is | until |
 * |---|---|
 * | starting | it has registered, which makes its one-time secret worthless |
 * | ready, while it renews its lease | a phase of a run reserves it (ready-runners.ts), or it is retired |
 * | reserved | it has claimed the phase; from then on it is an ordinary runner of that run, and of no other |
 * | retired | its next poll, whose response is to exit; or the sweep stops it |
 */
export interface WarmRunner extends Key {
  id: string;
  /** SHA-256 of the secret that it was started with. */
  secretHash: string;
  /** Version of its program, or its task definition: runs get only runners of the current version. */
  version: string;
  startedAt: string;
  taskId?: string;
  /** SHA-256 of the key that it chose when it registered: the run's claim. */
  keyHash?: string;
  /** Time of its last poll. */
  readyUntil?: string;
  reserved?: { runId: string; phase: PhaseName; at: string };
  retiredAt?: string;
}

interface Pool extends Key {
  idle?: Set<string>;
}

export const isWarmRunner = (startedBy: string): boolean => startedBy.startsWith('warm-');

/** Time limit to register; Fargate takes a minute to start a container. */
const startMs = 5 * 60_000;
/** Missed leases before the runner is replaced. */
const graceMs = 60_000;
/** Longer than any run lasts after its plan starts; then DynamoDB may remove the item. */
const keptSeconds = 30 * 24 * 3600;

export const removableLater = () => ({ expiresAt: expiryIn(keptSeconds) });

const currentVersion = (): string => environment.warmRunners?.version ?? environment.taskDefinitionArn;

export const getWarmRunner = (id: string): Promise<WarmRunner | undefined> => get<WarmRunner>(keys.warmRunner(id));

export const getWarmRunners = (ids: string[]): Promise<WarmRunner[]> => batchGet<WarmRunner>(ids.map(keys.warmRunner));

/** Removes the runner from the idle ones, so that another one may be started. */
export const leavePool = (id: string): Promise<unknown> =>
  update(keys.warmPool, { delete: { idle: new Set([id]) }, condition: 'contains(idle, :id)', values: { ':id': id } });

/** Retires the runner, so that no run gets it, unless a run already has it. */
export const retire = async (id: string): Promise<void> => {
  await updateExisting(keys.warmRunner(id), {
    set: { retiredAt: new Date().toISOString(), ...removableLater() },
    condition: 'attribute_not_exists(reserved)',
  });
  await leavePool(id);
};

const isReady = ({ keyHash, readyUntil = '', taskId, version, reserved, retiredAt }: WarmRunner): boolean =>
  !!keyHash &&
  !!taskId &&
  !reserved &&
  !retiredAt &&
  version === currentVersion() &&
  readyUntil > new Date().toISOString();

const idleRunners = async (): Promise<{ idle: string[]; runners: WarmRunner[] }> => {
  const pool = await get<Pool>(keys.warmPool);
  const idle = [...(pool?.idle ?? [])];
  return { idle, runners: await getWarmRunners(idle) };
};

/** The ready runners of this version, longest waiting first. */
export const readyRunners = async (): Promise<WarmRunner[]> =>
  (await idleRunners()).runners.filter(isReady).sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));

/**
 * Starts one more runner unless the configured number is reached. Missing ECS capacity is not an error: runs start
 * their own containers, and the sweep tries again.
 */
export const startWarmRunner = async (now = new Date()): Promise<boolean> => {
  const target = targetCount(environment.warmRunners, now.getTime());
  if (!target) return false;
  const id = newId('warm');
  const secret = newSecret();
  const counted = await update(keys.warmPool, {
    add: { idle: new Set([id]) },
    condition: 'attribute_not_exists(idle) OR size(idle) < :target',
    values: { ':target': target },
  });
  if (!counted) return false;
  const startedAt = now.toISOString();
  await create({ ...keys.warmRunner(id), id, secretHash: hashSecret(secret), version: currentVersion(), startedAt });
  try {
    const taskId = await runContainer(id, `${id}.${secret}`);
    await updateExisting(keys.warmRunner(id), { set: { taskId } });
    return true;
  } catch (error) {
    await retire(id);
    if (!(error instanceof CapacityUnavailableError)) throw error;
    logWarning('no warm runner was started', { reason: error.message });
    return false;
  }
};

const before = (time: string | undefined, ms: number, now: Date): boolean =>
  time !== undefined && Date.parse(time) < now.getTime() - ms;

/** Retired, lost or of an older version: the runner is replaced. */
const isLost = (runner: WarmRunner, now: Date): boolean =>
  runner.retiredAt !== undefined ||
  runner.version !== currentVersion() ||
  before(runner.keyHash ? runner.readyUntil : runner.startedAt, runner.keyHash ? graceMs : startMs, now);

/**
 * Keeps as many runners ready as the operator configured for this hour: retires those that are lost, outdated or
 * surplus, and starts missing ones. Reads nothing if none are configured; the sweep stops remaining ones as stray
 * containers.
 */
export const keepWarmRunners = async (now = new Date()): Promise<void> => {
  if (!environment.warmRunners) return;
  const target = targetCount(environment.warmRunners, now.getTime());
  const { idle, runners } = await idleRunners();
  let ready = 0;
  for (const id of idle) {
    const runner = runners.find((one) => one.id === id);
    // The function that reserved or created it was interrupted before the next write.
    if (!runner || runner.reserved) await leavePool(id);
    else if (isLost(runner, now) || ready >= target) await retire(id);
    else ready++;
  }
  while (ready < target && (await startWarmRunner(now))) ready++;
};
