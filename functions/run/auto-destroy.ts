/** When workspaces are destroyed by themselves (HCP API: workspaces, auto-destroy). Pure. Times are UTC ISO 8601. */

/** `14d`, `12h`: up to 4 digits, not 0. */
const durationForm = /^(\d{1,4})([dh])$/;

const hourMs = 3_600_000;

/** In ms; undefined for what is no duration. */
export const activityMs = (duration: string): number | undefined => {
  const [, count = '', unit] = durationForm.exec(duration) ?? [];
  return Number(count) > 0 ? Number(count) * (unit === 'd' ? 24 : 1) * hourMs : undefined;
};

/** Whichever of the two is set; at most one is. */
export interface AutoDestroySettings {
  autoDestroyAt?: string | null;
  /** After the last change of the state. */
  autoDestroyActivityDuration?: string | null;
}

/** How far the platform has come with destroying a workspace. */
export interface AutoDestroyProgress {
  /** When it last looked at the workspace; reminders that were due before are not sent. */
  lookedAt: string;
  /** The run that destroys it. */
  runId?: string;
  /** How many tries have failed, or more than there are where nobody wants another. */
  failures?: number;
  /** State version that the run began with, or that the last failure left. A later one is somebody's work. */
  basis?: string;
}

interface Resources {
  id: string;
  at: string;
  resources: number;
}

// biome-ignore lint/style/noRestrictedGlobals: arithmetic with times that are given, not the clock
const later = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();

/** When it is to be destroyed; undefined when nothing says so, or there is nothing that could be. */
export const destroyTime = (
  { autoDestroyAt, autoDestroyActivityDuration: duration }: AutoDestroySettings,
  state: Resources | undefined,
): string | undefined => {
  if (autoDestroyAt) return autoDestroyAt;
  const ms = duration ? activityMs(duration) : undefined;
  return ms !== undefined && state?.resources ? later(state.at, ms) : undefined;
};

/** Before the time, people are reminded. */
const reminders = [24 * hourMs, 12 * hourMs];

/** After each failure but the last, another try. */
const retries = [hourMs, 4 * hourMs, 12 * hourMs];

/** No try follows so many. */
export const finalFailures = retries.length + 1;

/** When the platform looks again after a failure; undefined for never. */
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
  /** `reminds`: of the time to come. */
  | { do: 'wait'; until: string; reminds?: string }
  | { do: 'destroy'; due: string };

/** What a look at a workspace at some time comes to. */
export const nextStep = (
  settings: AutoDestroySettings,
  { state, progress, now }: { state: Resources | undefined; progress: AutoDestroyProgress; now: string },
): AutoDestroyStep => {
  const { autoDestroyActivityDuration: duration } = settings;
  const due = destroyTime(settings, state);
  // A state that comes after this look is due no sooner than this.
  const idle = duration ? ({ do: 'wait', until: later(now, activityMs(duration) ?? hourMs) } as const) : nothing;
  if (due === undefined || (due <= now && !state?.resources)) return idle;
  if (due > now) {
    const times = [...reminders.map((ms) => later(due, -ms)), due];
    const until = times.find((time) => time > now) ?? due;
    const passed = times.some((time) => time > progress.lookedAt && time <= now);
    return { do: 'wait', until, ...(passed && state?.resources ? { reminds: due } : {}) };
  }
  if (!progress.failures) return { do: 'destroy', due };
  // Nothing is destroyed that somebody made after the time had come.
  if (progress.basis !== state?.id) return duration ? { do: 'destroy', due } : nothing;
  return progress.failures >= finalFailures ? idle : { do: 'destroy', due };
};

const nothing = { do: 'nothing' } as const;
