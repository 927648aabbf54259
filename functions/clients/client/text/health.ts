import type { Resource } from '#clients/client/client.ts';
import type { Attributes } from '#clients/client/documents.ts';

/** Display texts of health assessments. */

type Result = Attributes['assessment-results'];

export interface HealthFinding {
  text: string;
  tone: 'good' | 'attention' | 'bad';
}

/** Findings, most important first; `Healthy` without any. */
export const findingsOf = (result: Result): [HealthFinding, ...HealthFinding[]] => {
  if (!result.succeeded) return [{ text: 'Assessment failed', tone: 'bad' }];
  const findings: HealthFinding[] = [];
  if (result.drifted) findings.push({ text: 'Drifted', tone: 'attention' });
  if (result['all-checks-succeeded'] === false) findings.push({ text: 'Checks failed', tone: 'bad' });
  const [first, ...rest] = findings;
  return first ? [first, ...rest] : [{ text: 'Healthy', tone: 'good' }];
};

/** Findings that need attention. */
export const problemsOf = (result: Resource<'assessment-results'> | undefined): HealthFinding[] =>
  result ? findingsOf(result.attributes).filter(({ tone }) => tone !== 'good') : [];
