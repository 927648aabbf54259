import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import { activityDuration } from '#resources/projects/auto-destroy-input.ts';
import { shownDestroyTime } from '#run/auto-destroy.ts';
import type { AutoDestroyChange, Workspace } from './records.ts';

/** Input of automatic destruction (HCP API: workspaces, auto-destroy). */

/** Such as `2026-01-31T12:00:00Z`; a past time is due at once. */
const time = v.pipe(
  v.string(),
  v.check(
    (text) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/.test(text) && !Number.isNaN(Date.parse(text)),
    'must be a time such as "2026-01-31T12:00:00Z"',
  ),
  v.transform((text) => new Date(text).toISOString()),
);

export const autoDestroyAttributes = {
  'auto-destroy-at': v.optional(v.nullable(time)),
  'auto-destroy-activity-duration': v.optional(v.nullable(activityDuration)),
  'inherits-project-auto-destroy': v.optional(v.nullable(v.boolean())),
};

interface Input {
  'auto-destroy-at'?: string | null;
  'auto-destroy-activity-duration'?: string | null;
  'inherits-project-auto-destroy'?: boolean | null;
}

const attribute = (name: keyof Input) => `/data/attributes/${name}`;

/** @throws {ApiError} 422 for contradictory settings */
const check = ({ at, duration, inherits }: { at?: string | null; duration?: string | null; inherits: unknown }) => {
  if (at && duration) {
    throw unprocessable(
      attribute('auto-destroy-activity-duration'),
      'auto-destroy-activity-duration: cannot be set together with auto-destroy-at; send one of them',
    );
  }
  if (inherits === true && at) {
    throw unprocessable(
      attribute('inherits-project-auto-destroy'),
      'inherits-project-auto-destroy: cannot be true together with auto-destroy-at, which projects do not have',
    );
  }
};

type Settled = Required<AutoDestroyChange>;

const own = (change: AutoDestroyChange): Settled => ({
  autoDestroyAt: change.autoDestroyAt ?? null,
  autoDestroyActivityDuration: change.autoDestroyActivityDuration ?? null,
  inheritsAutoDestroy: false,
  autoDestroyStatus: null,
});

/** The workspace's own settings after the request; undefined when it inherits from its project. */
const ownSettings = (
  { at, duration, inherits }: { at?: string | null; duration?: string | null; inherits?: boolean },
  current: AutoDestroyChange = {},
): Settled | undefined => {
  if (inherits) return undefined;
  if (at) return own({ autoDestroyAt: at });
  if (duration) return own({ autoDestroyActivityDuration: duration });
  const remaining = own({
    autoDestroyAt: at === undefined ? current.autoDestroyAt : null,
    // The duration determines the time that clients see: without one, there is no duration.
    autoDestroyActivityDuration:
      duration === undefined && at === undefined ? current.autoDestroyActivityDuration : null,
  });
  const isLeft = remaining.autoDestroyAt || remaining.autoDestroyActivityDuration;
  return inherits === false || (isLeft && current.inheritsAutoDestroy === false) ? remaining : undefined;
};

const isSame = (change: AutoDestroyChange, current: AutoDestroyChange): boolean =>
  (change.autoDestroyAt ?? null) === (current.autoDestroyAt ?? null) &&
  (change.autoDestroyActivityDuration ?? null) === (current.autoDestroyActivityDuration ?? null) &&
  change.inheritsAutoDestroy === (current.inheritsAutoDestroy ?? true);

/**
 * Changes in the request: none when it repeats the current settings or mentions none. After a failure, repeating them
 * tries again.
 * @param inherited duration of the workspace's project, the new one after a move; called only when needed
 * @throws {ApiError} 422
 */
export const readAutoDestroy = async (
  input: Input,
  current: Workspace | undefined,
  { moves, inherited }: { moves: boolean; inherited(): Promise<string | null> },
): Promise<AutoDestroyChange> => {
  const { 'auto-destroy-activity-duration': duration } = input;
  const inherits = input['inherits-project-auto-destroy'] ?? undefined;
  // Documents show the time computed from a duration; sending it back is not a change.
  const isEcho = current && duration && input['auto-destroy-at'] === shownDestroyTime(current, current.state);
  const at = isEcho ? undefined : input['auto-destroy-at'];
  const isSilent = at === undefined && duration === undefined && inherits === undefined;
  if (isSilent && !(moves && (current?.inheritsAutoDestroy ?? true))) return {};
  check({ at, duration, inherits });
  const change = ownSettings({ at, duration, inherits }, current) ?? (await following(duration, inherited));
  return current && isSame(change, current) && current.autoDestroyStatus !== 'errored' ? {} : change;
};

/** @throws {ApiError} 422 */
const following = async (
  duration: string | null | undefined,
  inherited: () => Promise<string | null>,
): Promise<Settled> => {
  const above = await inherited();
  if (duration && duration !== above) {
    throw unprocessable(
      attribute('inherits-project-auto-destroy'),
      `inherits-project-auto-destroy: true means the project's duration (${above ?? 'none'}), but auto-destroy-activity-duration is ${duration}; remove one of them`,
    );
  }
  return { ...own({ autoDestroyActivityDuration: above }), inheritsAutoDestroy: true };
};
