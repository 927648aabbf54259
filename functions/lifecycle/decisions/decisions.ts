import { checkIn } from '#platform/store/due.ts';
import type { Change } from '#platform/store/table.ts';
import { actor } from '#resources/runs/cancel.ts';
import { recordRunEvent } from '#resources/runs/events.ts';
import { deliver } from '#resources/runs/execution.ts';
import { getRun, statusChange, updateRun } from '#resources/runs/records.ts';
import { type ActionChange, type Decide, type Decision, runActions } from '#run/actions.ts';
import { type Overridable, statuses, statusesFor } from '#run/status.ts';
import { recheckAutomaticApply } from './automatic-apply.ts';

type Condition = Required<Pick<Change, 'condition' | 'names' | 'values'>>;

/** `isAccepted` of run/actions.ts as a write condition. */
const accepts = (action: Decision, at: string, which?: Overridable): Condition => {
  const { accepted } = runActions[action];
  if (accepted === 'cooled off') {
    return { condition: 'cancel.forceAvailableAt <= :now', names: {}, values: { ':now': at } };
  }
  const allowed = statusesFor(action).filter((status) => !which || statuses[status].overrides === which);
  const from = Object.fromEntries(allowed.map((status, i) => [`:from${i}`, status]));
  const undecided = 'attribute_not_exists(decision)';
  const confirmed = accepted === 'not discarded';
  const discards = action === 'discard';
  return {
    condition: [
      `#status IN (${Object.keys(from).join(', ')})`,
      'attribute_not_exists(cancel)',
      confirmed ? `(${undecided} OR decision.#action = :apply)` : undecided,
      ...(discards ? ['(#status <> :queued OR (limited = :limited AND attribute_not_exists(slot)))'] : []),
      ...(which ? [`attribute_not_exists(overrides.${which})`] : []),
    ].join(' AND '),
    names: confirmed ? { '#action': 'action' } : {},
    values: {
      ...from,
      ...(confirmed ? { ':apply': 'apply' } : {}),
      ...(discards ? { ':queued': 'plan_queued', ':limited': true } : {}),
    },
  };
};

/**
 * Performs a user's action on a run, records it in the timeline and resumes the execution. A canceled runner gets its
 * signal with its next heartbeat. Idempotent. `conflict` if the run does not accept the action now.
 * @param which for an override: the failed policies
 */
export const decide: Decide = async (run, action, by, comment, which) => {
  const { event, repeatable, change, recorded, description } = runActions[action];
  const user = actor(by);
  const { at } = user;
  const { status, set }: ActionChange = change({ ...user, comment, which }, run);
  if (which) {
    const overrides = { ...run.overrides, [which]: { by, at, comment } };
    await recheckAutomaticApply({ ...run, overrides });
  }
  const changed = await updateRun(run.id, {
    set: { ...(status ? statusChange({ status, passed: [] }, run, at) : {}), ...set, ...checkIn(run.id, 30, run) },
    ...accepts(action, at, which),
  });
  const current = changed ?? (await getRun(run.id));
  const earlier = current && recorded(current, which);
  if (!current || earlier?.by !== by) return 'conflict';
  // The SDK retries a write whose response was lost: the run then has this very change.
  if (earlier.at === at) await recordRunEvent(run, event, by, comment, undefined, description?.(current));
  else if (!repeatable) return 'conflict';
  // An earlier request may have been interrupted after its write, before this step.
  await deliver(current);
  return 'accepted';
};
