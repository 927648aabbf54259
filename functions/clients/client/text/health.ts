import type { Resource } from '#clients/client/client.ts';
import type { Attributes } from '#clients/client/documents.ts';
import { since } from '../run-facts.ts';

/** Display texts of health assessments. */

type Result = Attributes['assessment-results'];

export interface HealthFinding {
  text: string;
  tone: 'good' | 'attention' | 'bad';
}

const checksFailed: HealthFinding = { text: 'Checks failed', tone: 'bad' };

/** Findings, most important first; `Healthy` without any. */
export const findingsOf = (result: Result): [HealthFinding, ...HealthFinding[]] => {
  if (!result.succeeded) return [{ text: 'Assessment failed', tone: 'bad' }];
  const findings: HealthFinding[] = [];
  if (result.drifted) findings.push({ text: 'Drifted', tone: 'attention' });
  if (result['all-checks-succeeded'] === false) findings.push(checksFailed);
  const [first, ...rest] = findings;
  return first ? [first, ...rest] : [{ text: 'Healthy', tone: 'good' }];
};

/** Check blocks that failed in the run, unless a later assessment has evaluated them again. */
export const failedChecksOf = (
  run: Resource<'runs'> | undefined,
  result: Resource<'assessment-results'> | undefined,
): Attributes['runs']['failed-checks'] =>
  run && !(result && result.attributes['created-at'] > since(run)) ? run.attributes['failed-checks'] : [];

/** Findings that need attention: of the latest assessment, and checks that failed in the latest run. */
export const problemsOf = (
  result: Resource<'assessment-results'> | undefined,
  run: Resource<'runs'> | undefined,
): HealthFinding[] => {
  const found = result ? findingsOf(result.attributes).filter(({ tone }) => tone !== 'good') : [];
  const isNew = failedChecksOf(run, result).length > 0 && !found.includes(checksFailed);
  return isNew ? [...found, checksFailed] : found;
};
