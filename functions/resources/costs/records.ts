import { environment } from '#platform/environment.ts';
import { maxPlanBytes, readPlanJson } from '#resources/runs/plan-json.ts';
import { getRun, updateRun } from '#resources/runs/records.ts';
import { awaitsCostEstimate } from '#run/cost-estimate.ts';
import type { CostEstimate } from '#run/cost-record.ts';
import type { Run } from '#run/run.ts';
import { format } from './decimal.ts';
import { detailsOf } from './details.ts';
import { putCostDetails } from './details-records.ts';
import { billsOf, type Estimate, estimate, priced, pricesIn } from './estimate.ts';
import { PlanJsonError, readPlan } from './plan.ts';
import { asOf } from './prices/file.ts';
import { quotesFor } from './prices/index.ts';

/**
 * Stores cost estimates: first the object with the costs of each resource, then the record on the run
 * (run/cost-estimate.ts).
 */

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MiB`;

type Outcome = Pick<CostEstimate, 'status'> & Partial<CostEstimate>;

const errored = (errorMessage: string): Outcome => ({ status: 'errored', errorMessage });

const summary = ({ matched, unmatched, prior, proposed }: Estimate): Outcome => {
  const sources = new Set(matched.flatMap((resource) => resource.sources));
  return {
    status: 'finished',
    resourcesCount: matched.length + unmatched.length,
    matchedResourcesCount: matched.length,
    unmatchedResourcesCount: unmatched.length,
    priorMonthlyCost: format(prior),
    proposedMonthlyCost: format(proposed),
    deltaMonthlyCost: format(proposed - prior),
    priceSources: [...sources].sort(),
    pricesAsOf: sources.has('price-file') ? asOf : undefined,
  };
};

const estimatePlan = async (run: Run): Promise<Outcome> => {
  const { id, plan } = run;
  if (!plan.report?.artifacts?.['plan-json']) {
    return errored('The plan has no JSON output to estimate from.');
  }
  const json = await readPlanJson(run);
  if (json === undefined) return errored('The JSON plan has expired.');
  if (typeof json === 'number') {
    return errored(
      `The JSON plan has ${mebibytes(json)}; the maximum for cost estimates is ${mebibytes(maxPlanBytes)}.`,
    );
  }
  try {
    const bills = billsOf(readPlan(json, priced), environment.region);
    const costs = estimate(bills, await quotesFor(pricesIn(bills)));
    await putCostDetails(id, detailsOf(costs));
    return summary(costs);
  } catch (error) {
    if (error instanceof PlanJsonError) return errored(error.message);
    throw error;
  }
};

/**
 * Estimates the cost of a run's plan and stores the result; later calls return the stored one. An estimate never fails a
 * run: errors in the plan are in the record, with status `errored`. Takes up to 15 s when the Price List API is slow,
 * about 0.1 s for each MiB of the plan, and three times its size in memory.
 * @returns the record; unchanged if the run has ended or awaits no estimate
 * @throws errors of table and bucket
 */
export const estimateCosts = async (run: Run): Promise<CostEstimate | undefined> => {
  if (!awaitsCostEstimate(run)) return run.costEstimate;
  return storeOutcome(run, await estimatePlan(run));
};

/** Ends an estimate that failed in the platform, with the reason. Can be repeated. */
export const abandonCosts = (run: Run, reason: string): Promise<CostEstimate | undefined> =>
  storeOutcome(run, errored(reason));

const storeOutcome = async (run: Run, outcome: Outcome): Promise<CostEstimate | undefined> => {
  const at = new Date().toISOString();
  const changed = await updateRun(run.id, {
    set: Object.fromEntries([
      ...Object.entries(outcome).map(([name, value]) => [`costEstimate.${name}`, value]),
      [`costEstimate.statusTimestamps.${outcome.status}-at`, at],
    ]),
    condition: 'costEstimate.status = :pending',
    values: { ':pending': 'pending' },
  });
  return (changed ?? (await getRun(run.id)))?.costEstimate;
};
