import { type Answer, ok, plainText } from '#api/answer.ts';
import { notFound, unavailable } from '#api/errors.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { shownCostEstimate } from '#run/cost-estimate.ts';
import type { CostEstimate } from '#run/cost-record.ts';
import type { Run } from '#run/run.ts';
import { getCostDetails } from './details-records.ts';
import { costEstimateDocument, costEstimateText } from './document.ts';
import { costEstimate } from './finder.ts';

const read = async ({ subject }: Context<Run>): Promise<Answer> => {
  const document = costEstimateDocument(subject, await getCostDetails(subject));
  if (!document) throw notFound(`Run ${subject.id} has no cost estimate.`);
  return ok(document);
};

const endings: Partial<Record<CostEstimate['status'], string>> = {
  skipped_due_to_targeting:
    'No cost estimate: the run has target addresses, so it would cover only part of the workspace.',
  canceled: 'No cost estimate: the run was canceled before cost estimation.',
  unreachable: 'No cost estimate: the run ended before cost estimation.',
};

/** The estimate's log for go-tfe, once it is complete. */
const output = async ({ subject }: Context<Run>): Promise<Answer> => {
  const estimate = shownCostEstimate(subject);
  if (estimate?.status === 'finished') {
    return plainText(costEstimateText(estimate, (await getCostDetails(subject)) ?? { matched: [], unmatched: [] }));
  }
  const ending = estimate && (estimate.errorMessage ?? endings[estimate.status]);
  if (ending) return plainText(`${ending}\n`);
  throw unavailable(`The cost estimate of run ${subject.id} is not finished yet.`);
};

export const costEstimateRoutes: Route[] = [
  route('GET', '/cost-estimates/{estimate}', 'run:read', costEstimate, read),
  route('GET', '/cost-estimates/{estimate}/output', 'run:read', costEstimate, output),
];
