/**
 * Times at which workspaces are destroyed by their schedule (HCP API: workspaces, auto-destroy). Pure. Times are UTC
 * ISO 8601.
 */

/** `14d`, `12h`: up to 4 digits, not 0. */
const durationForm = /^(\d{1,4})([dh])$/;

const hourMs = 3_600_000;

/** In ms; undefined if the text is not a duration. */
export const activityMs = (duration: string): number | undefined => {
  const [, count = '', unit] = durationForm.exec(duration) ?? [];
  return Number(count) > 0 ? Number(count) * (unit === 'd' ? 24 : 1) * hourMs : undefined;
};

/** At most one of the two is set. */
export interface AutoDestroySettings {
  autoDestroyAt?: string | null;
  /** After the last change of the state. */
  autoDestroyActivityDuration?: string | null;
}

/** Progress of destroying a workspace. */
export interface AutoDestroyProgress {
  /** Time of the last check; reminders that were due before it are not sent. */
  lookedAt: string;
  /** The run that destroys it. */
  runId?: string;
  /** Number of failed attempts; set to the maximum when the run is discarded, canceled or failed by a check. */
  failures?: number;
  /**
   * State version at the start of the run, or after its failure. A later version means that the workspace was used since
   * then.
   */
  basis?: string;
}

interface Resources {
  id: string;
  at: string;
  resources: number;
}

// biome-ignore lint/style/noRestrictedGlobals: arithmetic with times that are given, not the clock
const later = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();

/**
 * Time at which the workspace is destroyed; undefined without a schedule, and for an activity duration while there are
 * no resources.
 */
export const destroyTime = (
  { autoDestroyAt, autoDestroyActivityDuration: duration }: AutoDestroySettings,
  state: Resources | undefined,
): string | undefined => {
  if (autoDestroyAt) return autoDestroyAt;
  const ms = duration ? activityMs(duration) : undefined;
  return ms !== undefined && state?.resources ? later(state.at, ms) : undefined;
};

/**
 * The time that clients see. As in HCP Terraform an activity duration has one from the start, counted from the last
 * change of the settings; nothing is destroyed then while there are no resources.
 */
export const shownDestroyTime = (
  settings: AutoDestroySettings & { updatedAt: string },
  state: Resources | undefined,
): string | undefined => {
  const ms = activityMs(settings.autoDestroyActivityDuration ?? '');
  return destroyTime(settings, state) ?? (ms === undefined ? undefined : later(settings.updatedAt, ms));
};

/** Times before the destruction at which reminders are sent. */
const reminders = [24 * hourMs, 12 * hourMs];

/** Delays before the next attempt, one for each failure but the last. */
const retries = [hourMs, 4 * hourMs, 12 * hourMs];

/** Number of failures after which there is no further attempt. */
export const finalFailures = retries.length + 1;

/** Time of the next attempt after a failure; undefined after the last attempt. */
export const timeAfterFailure = (
  { autoDestroyActivityDuration: duration }: AutoDestroySettings,
  failures: number,
  now: string,
): string | undefined => {
  const ms = retries[failures - 1] ?? (duration ? activityMs(duration) : undefined);
  return ms === undefined ? undefined : later(now, ms);
};

export type AutoDestroyStep =
  | { do: 'nothing' }
  /** `reminds`: destruction time that the reminder announces. */
  | { do: 'wait'; until: string; reminds?: string }
  | { do: 'destroy'; due: string };

/** The next step for a workspace at a given time. */
export const nextStep = (
  settings: AutoDestroySettings,
  { state, progress, now }: { state: Resources | undefined; progress: AutoDestroyProgress; now: string },
): AutoDestroyStep => {
  const { autoDestroyActivityDuration: duration } = settings;
  const due = destroyTime(settings, state);
  // A state that is uploaded after this check cannot be due sooner.
  const idle = duration ? ({ do: 'wait', until: later(now, activityMs(duration) ?? hourMs) } as const) : nothing;
  if (due === undefined || (due <= now && !state?.resources)) return idle;
  if (due > now) {
    const times = [...reminders.map((ms) => later(due, -ms)), due];
    const until = times.find((time) => time > now) ?? due;
    const passed = times.some((time) => time > progress.lookedAt && time <= now);
    return { do: 'wait', until, ...(passed && state?.resources ? { reminds: due } : {}) };
  }
  if (!progress.failures) return { do: 'destroy', due };
  // Resources that were created after the due time are not destroyed.
  if (progress.basis !== state?.id) return duration ? { do: 'destroy', due } : nothing;
  return progress.failures >= finalFailures ? idle : { do: 'destroy', due };
};

const nothing = { do: 'nothing' } as const;
