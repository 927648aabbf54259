import { differencesOf, type PlanDifferences, type RedactedPlan } from '#clients/client/text/plan.ts';
import { content } from './session.ts';

/** Finished plans never change, so each is read once. */

export interface PlanDetails extends PlanDifferences {
  /** Dependencies by address in the configuration; undefined for plans older than this feature. */
  dependencies: Record<string, string[]> | undefined;
}

const load = async (id: string): Promise<PlanDetails> => {
  const response = await content(`/plans/${id}/json-output-redacted`);
  const plan = (await response.json()) as RedactedPlan;
  return { ...differencesOf(plan), dependencies: plan.resource_dependencies };
};

/** Parameter of a run's address: the run whose plan is compared. */
export const comparedWith = 'compare';

const cache = new Map<string, Promise<PlanDetails>>();

/** @throws {ApiError} while the plan is not finished */
export const planOf = (id: string): Promise<PlanDetails> => {
  const cached = cache.get(id);
  if (cached) return cached;
  const loading = load(id);
  cache.set(id, loading);
  loading.catch(() => cache.delete(id));
  return loading;
};
