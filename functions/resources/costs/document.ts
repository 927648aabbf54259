import { costEstimateId } from '#platform/store/id.ts';
import { shownCostEstimate } from '#run/cost-estimate.ts';
import type { CostEstimate } from '#run/cost-record.ts';
import type { Run } from '#run/run.ts';
import type { Details } from './details.ts';

/** @param details of a finished estimate; absent in lists */
export const costEstimateDocument = (run: Run, details?: Details) => {
  const estimate = shownCostEstimate(run);
  if (!estimate) return undefined;
  const id = costEstimateId(run.id);
  return {
    id,
    type: 'cost-estimates',
    attributes: {
      'error-message': estimate.errorMessage ?? null,
      status: estimate.status,
      'status-timestamps': estimate.statusTimestamps,
      resources: details ?? null,
      'resources-count': estimate.resourcesCount ?? null,
      'matched-resources-count': estimate.matchedResourcesCount ?? null,
      'unmatched-resources-count': estimate.unmatchedResourcesCount ?? null,
      'prior-monthly-cost': estimate.priorMonthlyCost ?? null,
      'proposed-monthly-cost': estimate.proposedMonthlyCost ?? null,
      'delta-monthly-cost': estimate.deltaMonthlyCost ?? null,
      /** Not in HCP's API: the source of the prices, and the age of those in the file. */
      'price-sources': estimate.priceSources ?? null,
      'prices-as-of': estimate.pricesAsOf ?? null,
    },
    links: { self: `/api/v2/cost-estimates/${id}` },
  };
};

const columns = (rows: string[][]): string[] => {
  const widths = rows.reduce<number[]>((all, row) => row.map((cell, i) => Math.max(all[i] ?? 0, cell.length)), []);
  return rows.map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
  );
};

const sources: Record<string, (asOf: string) => string> = {
  'price-list-api': () => 'the AWS Price List API',
  'price-file': (asOf) => `list prices of ${asOf}`,
};

/** A finished estimate as text, for a terminal. */
export const costEstimateText = (estimate: CostEstimate, { matched, unmatched }: Details): string => {
  const total = [
    'Total',
    estimate.priorMonthlyCost ?? '',
    estimate.proposedMonthlyCost ?? '',
    estimate.deltaMonthlyCost ?? '',
  ];
  const costly = matched.filter(
    (detail) => detail['prior-monthly-cost'] !== '0.0' || detail['proposed-monthly-cost'] !== '0.0',
  );
  const rows = costly.map((detail) => [
    detail.address,
    detail['prior-monthly-cost'],
    detail['proposed-monthly-cost'],
    detail['delta-monthly-cost'],
  ]);
  const from = (estimate.priceSources ?? []).map((source) => sources[source]?.(estimate.pricesAsOf ?? '') ?? source);
  return [
    `Resources: ${estimate.matchedResourcesCount} of ${estimate.resourcesCount} estimated`,
    '',
    ...columns([['USD a month', 'before', 'after', 'delta'], ...rows, total]),
    ...(unmatched.length
      ? ['', 'Not estimated:', ...unmatched.map(({ address, reason }) => `  ${address}: ${reason}`)]
      : []),
    ...(from.length ? ['', `Prices from ${from.join(' and ')}.`] : []),
    '',
  ].join('\n');
};
