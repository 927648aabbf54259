/**
 * Results of a run's policies, and their consequences. Pure. Agent-enabled sets, as all of kind `opa` are, are
 * evaluated at post-plan as policy evaluations; other sets of kind `sentinel` make up the policy check.
 */

export const policyKinds = ['opa', 'sentinel'] as const;
export type PolicyKind = (typeof policyKinds)[number];

/** Whether a set is part of the policy evaluation instead of the policy check (HCP API: policy sets, `agent-enabled`). */
export const isEvaluated = ({ kind, agentEnabled = false }: { kind: PolicyKind; agentEnabled?: boolean }): boolean =>
  kind === 'opa' || agentEnabled;

/** The enforcement levels of each kind; the first is the default (HCP API: policies). */
export const enforcementLevels = {
  opa: ['advisory', 'mandatory'],
  sentinel: ['advisory', 'soft-mandatory', 'hard-mandatory'],
} as const satisfies Record<PolicyKind, readonly string[]>;
export type EnforcementLevel = (typeof enforcementLevels)[PolicyKind][number];

/** Result of one policy. `output` is the policy's return value: messages for users, or objects with them. */
export interface PolicyOutcome {
  policyName: string;
  description: string;
  /** The query for OPA; absent for Sentinel. */
  query?: string;
  enforcementLevel: EnforcementLevel;
  status: 'passed' | 'failed' | 'errored';
  output: unknown[];
  /** Reason why it could not be evaluated, when `status` is errored: it then counts as failed. */
  error?: string;
}

export interface PolicySetOutcome {
  policySetId: string;
  policySetName: string;
  policySetDescription: string;
  kind: PolicyKind;
  overridable: boolean;
  /** Version of the engine, e.g. `1.19.0`; empty if unknown. */
  policyToolVersion: string;
  outcomes: PolicyOutcome[];
  /** Reason why none of its policies could be evaluated: the set then counts as failed. */
  error?: string;
  warnings: string[];
}

export type EvaluationVerdict = 'passed' | 'overridable' | 'failed';
export type CheckVerdict = 'passed' | 'soft_failed' | 'hard_failed';

/** `reason`: the failed policies, for users; absent when all passed. */
export interface ReasonedVerdict<V> {
  verdict: V;
  reason?: string;
}

/** HCP API: policy evaluations, policy set outcomes. */
export interface ResultCount {
  'advisory-failed': number;
  'mandatory-failed': number;
  passed: number;
  errored: number;
}

const isFailed = ({ status }: PolicyOutcome): boolean => status !== 'passed';
const blocking = (outcome: PolicyOutcome): boolean => isFailed(outcome) && outcome.enforcementLevel !== 'advisory';

export const resultCount = (sets: PolicySetOutcome[]): ResultCount => {
  const all = sets.flatMap(({ outcomes }) => outcomes);
  const failed = all.filter(({ status }) => status === 'failed');
  const advisory = failed.filter(({ enforcementLevel }) => enforcementLevel === 'advisory').length;
  return {
    'advisory-failed': advisory,
    'mandatory-failed': failed.length - advisory,
    passed: all.filter(({ status }) => status === 'passed').length,
    errored: all.filter(({ status }) => status === 'errored').length + sets.filter(({ error }) => error).length,
  };
};

const maxNamed = 5;

/** The first {@link maxNamed} failures: `Policy "no-public-buckets" of set "network" failed.` */
const reasonFor = (sets: PolicySetOutcome[]): string => {
  const lines = sets.flatMap((set) =>
    set.error
      ? [`Policy set "${set.policySetName}" could not be evaluated: ${set.error}`]
      : set.outcomes
          .filter(blocking)
          .map(({ policyName, status, error }) =>
            status === 'errored'
              ? `Policy "${policyName}" of set "${set.policySetName}" could not be evaluated: ${error ?? 'no reason given'}`
              : `Policy "${policyName}" of set "${set.policySetName}" failed.`,
          ),
  );
  const more = lines.length - maxNamed;
  return [...lines.slice(0, maxNamed), ...(more > 0 ? [`And ${more} more.`] : [])].join(' ');
};

const isBlocking = (set: PolicySetOutcome): boolean => set.error !== undefined || set.outcomes.some(blocking);

/** Sets of kind `sentinel` are overridden by the level of their failed policies. */
const isOverridable = (set: PolicySetOutcome): boolean =>
  set.kind === 'opa'
    ? set.overridable
    : set.error === undefined &&
      set.outcomes.filter(blocking).every(({ enforcementLevel }) => enforcementLevel === 'soft-mandatory');

/** Advisory failures never count; one failed set without override fails the evaluation. */
export const judgeEvaluation = (sets: PolicySetOutcome[]): ReasonedVerdict<EvaluationVerdict> => {
  const failing = sets.filter(isBlocking);
  if (failing.length === 0) return { verdict: 'passed' };
  const verdict = failing.every(isOverridable) ? 'overridable' : 'failed';
  return { verdict, reason: reasonFor(failing) };
};

/** HCP API: policy checks, `result`. */
export interface CheckCount {
  passed: number;
  'advisory-failed': number;
  'soft-failed': number;
  'hard-failed': number;
}

/** An errored policy counts at its level; a set that could not be evaluated counts as hard-mandatory. */
export const checkCount = (sets: PolicySetOutcome[]): CheckCount => {
  const all = sets.flatMap(({ outcomes }) => outcomes);
  const at = (level: EnforcementLevel) =>
    all.filter((outcome) => isFailed(outcome) && outcome.enforcementLevel === level).length;
  return {
    passed: all.filter((outcome) => !isFailed(outcome)).length,
    'advisory-failed': at('advisory'),
    'soft-failed': at('soft-mandatory'),
    'hard-failed': at('hard-mandatory') + sets.filter(({ error }) => error).length,
  };
};

export const judgeCheck = (sets: PolicySetOutcome[]): ReasonedVerdict<CheckVerdict> => {
  const count = checkCount(sets);
  const verdict = count['hard-failed'] ? 'hard_failed' : count['soft-failed'] ? 'soft_failed' : 'passed';
  return verdict === 'passed' ? { verdict } : { verdict, reason: reasonFor(sets.filter(isBlocking)) };
};
