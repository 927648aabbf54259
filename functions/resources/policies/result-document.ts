import { many, one, type Resource } from '#api/answer.ts';
import type { Viewer } from '#resources/runs/document.ts';
import { pendingOverride } from '#run/actions.ts';
import { type PolicySetOutcome, resultCount } from '#run/policies.ts';
import {
  isJudged,
  policyCheckId,
  policyCheckStatus,
  policyEvaluationStatus,
  policyTimestamps,
} from '#run/policy-status.ts';
import type { Run } from '#run/run.ts';
import { taskStageId } from '#run/task-stages.ts';
import { getPolicyResult, type PolicyResult, policyEvaluationId, policySetOutcomeId } from './result-records.ts';

/** The user who overrode failed policies, and their comment. Not in HCP's API. */
const overrideOf = (run: Run, kind: 'policyCheck' | 'policyEvaluation') => {
  const override = run.overrides?.[kind];
  return override ? { by: override.by, at: override.at, comment: override.comment ?? null } : null;
};

/** Outcome of a set; some keys have underscores, as in HCP's API. */
export const setAttributes = (set: PolicySetOutcome) => ({
  outcomes: set.outcomes.map((outcome) => ({
    enforcement_level: outcome.enforcementLevel,
    query: outcome.query ?? null,
    status: outcome.status,
    policy_name: outcome.policyName,
    description: outcome.description,
    // Clients show errors among the messages.
    output: outcome.error === undefined ? outcome.output : [...outcome.output, outcome.error],
  })),
  error: set.error ?? null,
  warnings: set.warnings,
  'policy-set-name': set.policySetName,
  'policy-set-description': set.policySetDescription,
  'policy-tool-version': set.policyToolVersion,
});

/** `kept` and `sets` are the stored result; they appear once the status is final. */
export const policyCheckDocument = (
  run: Run,
  stored: PolicyResult | undefined,
  sets: PolicySetOutcome[],
  { granted }: Pick<Viewer, 'granted'>,
) => {
  const id = policyCheckId(run.id);
  const status = policyCheckStatus(run);
  const result = isJudged(status) ? stored : undefined;
  const count = result?.count ?? {};
  const failed = (count['advisory-failed'] ?? 0) + (count['soft-failed'] ?? 0) + (count['hard-failed'] ?? 0);
  return {
    id,
    type: 'policy-checks',
    attributes: {
      status,
      scope: 'organization',
      result: result
        ? {
            result: result.verdict === 'passed',
            passed: count.passed ?? 0,
            'total-failed': failed,
            'hard-failed': count['hard-failed'] ?? 0,
            'soft-failed': count['soft-failed'] ?? 0,
            'advisory-failed': count['advisory-failed'] ?? 0,
            'duration-ms': result.durationMs,
            duration: result.durationMs,
            // go-tfe expects an object; its content is not in HCP's API.
            sentinel: { 'policy-sets': sets.map(setAttributes) },
          }
        : null,
      'status-timestamps': policyTimestamps(run, status, {
        begun: 'queued-at',
        verdict: result?.verdict,
        at: result?.at,
      }),
      override: overrideOf(run, 'policyCheck'),
      actions: { 'is-overridable': pendingOverride(run) === 'policyCheck' },
      permissions: { 'can-override': granted.has('run:override-policy') },
    },
    relationships: { run: one('runs', run.id) },
    links: {
      self: `/api/v2/policy-checks/${id}`,
      output: `/api/v2/policy-checks/${id}/output`,
      override: `/api/v2/policy-checks/${id}/actions/override`,
    },
  };
};

const noCount = resultCount([]);

export const policyEvaluationDocument = (run: Run, stored: PolicyResult | undefined, sets: number) => {
  const id = policyEvaluationId(run.id);
  const status = policyEvaluationStatus(run);
  const result = isJudged(status) ? stored : undefined;
  const verdict = result && (result.verdict === 'passed' ? 'passed' : 'failed');
  return {
    id,
    type: 'policy-evaluations',
    attributes: {
      status,
      'policy-kind': 'opa',
      'status-timestamps': policyTimestamps(run, status, { begun: 'running-at', verdict, at: result?.at }),
      // Never null: the command line reads its attributes.
      'result-count': { ...noCount, ...result?.count },
      override: overrideOf(run, 'policyEvaluation'),
      'created-at': run.createdAt,
      'updated-at': run.overrides?.policyEvaluation?.at ?? result?.at ?? run.createdAt,
    },
    relationships: {
      'policy-attachable': one('task-stages', taskStageId(run.id, 'post_plan')),
      'policy-set-outcomes': many(
        'policy-set-outcomes',
        Array.from({ length: result ? sets : 0 }, (_, i) => policySetOutcomeId(run.id, i)),
      ),
    },
    links: { self: `/api/v2/policy-evaluations/${id}` },
  };
};

/** 1 read. */
export const evaluationDocument = async (run: Run): Promise<Resource> => {
  const result = await getPolicyResult(run.id, 'evaluation');
  return policyEvaluationDocument(run, result, result?.setCount ?? 0);
};

/** `number`: the set's place among the sets of its evaluation, from 0. */
export const policySetOutcomeDocument = (runId: string, number: number, set: PolicySetOutcome) => {
  const id = policySetOutcomeId(runId, number);
  const count = resultCount([set]);
  return {
    id,
    type: 'policy-set-outcomes',
    attributes: {
      ...setAttributes(set),
      overridable: set.overridable,
      'result-count': count,
      // go-tfe reads this key with an underscore.
      result_count: count,
    },
    relationships: { 'policy-evaluation': one('policy-evaluations', policyEvaluationId(runId)) },
    links: { self: `/api/v2/policy-set-outcomes/${id}` },
  };
};
