import type { HealthFacts, HealthResult } from './health-record.ts';
import type { PhaseReport } from './phase-report.ts';
import type { Run } from './run.ts';
import { isFinal } from './status.ts';

/** Results of a health assessment (HCP API: assessment results). Pure. */

const longestMessage = 300;

/**
 * Undefined for a run that is not an assessment, has not ended, was canceled, or assessed a state that is no longer
 * current.
 */
export const healthOf = (run: Run): HealthResult | undefined => {
  const { assessment, status, statusTimestamps, plan, endReason, id } = run;
  if (!assessment || assessment.outdated || !isFinal(status) || status === 'canceled') return undefined;
  const at = statusTimestamps['planned-and-finished-at'] ?? statusTimestamps['errored-at'] ?? run.createdAt;
  const report: Partial<PhaseReport> = plan.report ?? {};
  const hasPlan = report.artifacts?.['plan-json'] ? ({ hasPlan: true } as const) : {};
  const { health, failedChecks } = report;
  if (status === 'planned_and_finished')
    return { runId: id, at, succeeded: true, ...health, ...(failedChecks ? { failedChecks } : {}), ...hasPlan };
  const message = (endReason ?? report.message ?? 'The assessment failed.').slice(0, longestMessage);
  return { runId: id, at, succeeded: false, message, ...hasPlan };
};

/** Undefined if unknown. */
export const isDrifted = ({ resourcesDrifted }: HealthFacts): boolean | undefined =>
  resourcesDrifted === undefined ? undefined : resourcesDrifted > 0;

/** Undefined without checks, or if unknown. */
export const allChecksSucceeded = ({ checksFailed, checksErrored }: HealthFacts): boolean | undefined =>
  checksFailed === undefined ? undefined : checksFailed + (checksErrored ?? 0) === 0;

/** Interval of scheduled assessments (HCP Terraform: health assessments). */
export const assessmentHours = 24;

// biome-ignore lint/style/noRestrictedGlobals: arithmetic with times that are given, not the clock
const later = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();

const hourMs = 3_600_000;

/** Time of the next scheduled assessment: one interval after the last one, and after the last change of the state. */
export const nextAssessment = (
  health: Pick<HealthResult, 'at'> | undefined,
  state: { at: string } | undefined,
): string | undefined => {
  if (!health) return undefined;
  const last = state && state.at > health.at ? state.at : health.at;
  return later(last, assessmentHours * hourMs);
};
