import type { Resource } from '../../client/client.ts';
import type { Attributes } from '../../client/documents.ts';

/** Results of health assessments in the reader's words. */

type Result = Attributes['assessment-results'];

export interface HealthFinding {
  text: string;
  tone: 'good' | 'attention' | 'bad';
}

/** The most important first; nothing but that all is well when there is nothing else to say. */
export const findingsOf = (result: Result): [HealthFinding, ...HealthFinding[]] => {
  if (!result.succeeded) return [{ text: 'Assessment failed', tone: 'bad' }];
  const findings: HealthFinding[] = [];
  if (result.drifted) findings.push({ text: 'Drifted', tone: 'attention' });
  if (result['all-checks-succeeded'] === false) findings.push({ text: 'Checks failed', tone: 'bad' });
  const [first, ...rest] = findings;
  return first ? [first, ...rest] : [{ text: 'Healthy', tone: 'good' }];
};

/** What somebody should look at. */
export const problemsOf = (result: Resource<'assessment-results'> | undefined): HealthFinding[] =>
  result ? findingsOf(result.attributes).filter(({ tone }) => tone !== 'good') : [];
