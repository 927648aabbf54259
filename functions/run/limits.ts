import type { PhaseName, Run } from './run.ts';

/** Default time limits of Terraform, in seconds; an organization can set others. */
const usualSeconds: Record<PhaseName, number> = { plan: 2 * 3600, apply: 24 * 3600 };

/** Maximum of a packed configuration and of a state, in bytes. */
export const maxArchiveBytes = 100 * 1024 * 1024;
export const maxStateBytes = 64 * 1024 * 1024;

/** The run's limit, fixed when it is created. No credential for a phase is valid for longer. */
export const phaseSeconds = (run: Pick<Run, 'timeLimits'>, phase: PhaseName): number =>
  run.timeLimits?.[phase] ?? usualSeconds[phase];

const units = { h: 3600, m: 60, s: 1 };

/** `1h30m` → 5400; NaN if the text is not such a duration. */
export const secondsIn = (duration: string): number =>
  /^(\d{1,6}h)?(\d{1,6}m)?(\d{1,6}s)?$/.test(duration) && duration
    ? [...duration.matchAll(/(\d+)([hms])/g)].reduce(
        (sum, [, n, unit]) => sum + Number(n) * units[unit as keyof typeof units],
        0,
      )
    : Number.NaN;
