import { checkIn } from '#platform/store/due.ts';
import type { Change } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { recordRunEvent } from '#resources/runs/events.ts';
import { deliver } from '#resources/runs/execution.ts';
import { getRun, statusChange, updateRun } from '#resources/runs/records.ts';
import { afterConfirmation, forceCancelCoolOffSeconds } from '#run/actions.ts';
import type { Run } from '#run/run.ts';
import { type Overridable, type RunAction, statuses, statusesFor } from '#run/status.ts';
import { recheckAutomaticApply } from './automatic-apply.ts';

/** Users' actions on a run. Each is idempotent. */

const timeIn = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

export type ActionResult = 'accepted' | 'conflict';

/** `isAccepted` of run/actions.ts, which documents show, as a write condition. */
const mayNow = (action: RunAction, which?: Overridable): Required<Pick<Change, 'condition' | 'names' | 'values'>> => {
  const allowed = statusesFor(action).filter((status) => !which || statuses[status].overrides === which);
  const decided = afterConfirmation[action]
    ? '(attribute_not_exists(decision) OR decision.#action = :apply)'
    : 'attribute_not_exists(decision)';
  const from = allowed.map((_, i) => `:from${i}`);
  return {
    condition: [
      `#status IN (${from.join(', ')})`,
      'attribute_not_exists(cancel)',
      decided,
      ...(which ? [`attribute_not_exists(overrides.${which})`] : []),
    ].join(' AND '),
    names: afterConfirmation[action] ? { '#action': 'action' } : {},
    values: {
      ...Object.fromEntries(allowed.map((status, i) => [`:from${i}`, status])),
      ...(afterConfirmation[action] ? { ':apply': 'apply' } : {}),
    },
  };
};

/** @param isMine whether a run already contains this change: the SDK retries a write whose response was lost */
const act = async (
  run: Run,
  action: string,
  userId: string,
  comment: string | undefined,
  change: Change,
  isMine: (run: Run) => boolean,
): Promise<ActionResult> => {
  let changed = await updateRun(run.id, { ...change, set: { ...change.set, ...checkIn(run.id, 30, run) } });
  changed ??= await getRun(run.id).then((current) => (current && isMine(current) ? current : undefined));
  if (!changed) return 'conflict';
  await recordRunEvent(run, action, userId, comment, now(), descriptionOf(action, changed));
  await deliver(changed);
  return 'accepted';
};

/** A run whose apply has finished stays applied when its post-apply run tasks are canceled. */
const descriptionOf = (action: string, { status }: Run): string | undefined =>
  action === 'canceled' && status === 'post_apply_running'
    ? 'Canceled the post-apply run tasks. The apply has finished, so the run ends as applied.'
    : undefined;

/** A repeated request of the same user: the first one may have been interrupted between write and delivery. */
const repeated = async (runId: string, isSame: (run: Run) => boolean): Promise<ActionResult> => {
  const current = await getRun(runId);
  if (!current || !isSame(current)) return 'conflict';
  await deliver(current);
  return 'accepted';
};

/**
 * Confirms a run. Idempotent for the same user (clients retry POSTs); `conflict` if the run does not await
 * confirmation.
 */
export const applyRun = async (run: Run, userId: string, comment?: string): Promise<ActionResult> => {
  const at = now();
  const result = await act(
    run,
    'confirmed',
    userId,
    comment,
    {
      set: {
        ...statusChange({ status: 'confirmed', passed: [] }, run, at),
        decision: { action: 'apply', by: userId, at },
      },
      ...mayNow('confirm'),
    },
    isDecision('apply', userId, at),
  );
  if (result === 'accepted') return result;
  return repeated(run.id, ({ decision }) => decision?.action === 'apply' && decision.by === userId);
};

/** Compares the action too: the same user may send another one in the same millisecond. */
const isDecision =
  (action: 'apply' | 'discard', userId: string, at: string) =>
  ({ decision }: Run): boolean =>
    decision?.action === action && decision.by === userId && decision.at === at;

export const discardRun = (run: Run, userId: string, comment?: string): Promise<ActionResult> => {
  const at = now();
  return act(
    run,
    'discarded',
    userId,
    comment,
    {
      set: { decision: { action: 'discard', by: userId, at } },
      ...mayNow('discard'),
    },
    isDecision('discard', userId, at),
  );
};

/** Cancels a run; the runner gets the signal with its next heartbeat. */
export const cancelRun = (run: Run, userId: string, comment?: string): Promise<ActionResult> => {
  const at = now();
  return act(
    run,
    'canceled',
    userId,
    comment,
    {
      set: { cancel: { by: userId, at, forceAvailableAt: timeIn(forceCancelCoolOffSeconds) } },
      ...mayNow('cancel'),
    },
    ({ cancel }) => cancel?.by === userId && cancel.at === at,
  );
};

/** Ends a canceled run that does not stop, without waiting for its runner. */
export const forceCancelRun = async (run: Run, userId: string, comment?: string): Promise<ActionResult> => {
  const phase = run.apply.status === 'pending' ? 'plan' : 'apply';
  const at = now();
  return act(
    run,
    'force_canceled',
    userId,
    comment,
    {
      set: {
        'cancel.forced': true,
        [`${phase}.report`]: { outcome: 'canceled', message: 'Force-canceled.', lost: true },
        'statusTimestamps.force-canceled-at': at,
      },
      condition: 'cancel.forceAvailableAt <= :now',
      values: { ':now': at },
    },
    ({ statusTimestamps }) => statusTimestamps['force-canceled-at'] === at,
  );
};

/** Overrides failed policies and records the user and the reason. Idempotent for the same user. */
export const overrideRun = async (
  run: Run,
  which: Overridable,
  userId: string,
  comment?: string,
): Promise<ActionResult> => {
  const at = now();
  const override = { by: userId, at, comment };
  await recheckAutomaticApply({ ...run, overrides: { ...run.overrides, [which]: override } });
  const result = await act(
    run,
    'policy_overridden',
    userId,
    comment,
    {
      set: { [`overrides.${which}`]: override },
      ...mayNow('override', which),
    },
    ({ overrides }) => overrides?.[which]?.by === userId && overrides[which].at === at,
  );
  if (result === 'accepted') return result;
  return repeated(run.id, ({ overrides }) => overrides?.[which]?.by === userId);
};
