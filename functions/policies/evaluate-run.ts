import type { CheckVerdict, EvaluationVerdict, Judged } from '../run/policies.ts';
import type { Run } from '../run/run.ts';

/**
 * What policies are shown of a cost estimate, as `input.run.cost_estimate`: monthly costs in US dollars as decimal
 * strings, e.g. `{prior_monthly_cost: '0.0', proposed_monthly_cost: '25.488', delta_monthly_cost: '25.488'}`.
 */
export type CostInput = Record<string, unknown>;

/**
 * Evaluates the run's sets of kind `opa` and keeps what they said. May be repeated: the first result stands.
 * Never throws for what a policy does; throws when storage does not answer.
 */
export const evaluatePolicies = async (_run: Run, _cost?: CostInput): Promise<Judged<EvaluationVerdict>> => {
  throw new Error('policies are not evaluated yet');
};

/** The same for the run's sets of kind `sentinel`: its policy check. */
export const checkPolicies = async (_run: Run, _cost?: CostInput): Promise<Judged<CheckVerdict>> => {
  throw new Error('policies are not checked yet');
};
