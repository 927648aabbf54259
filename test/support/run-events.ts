import type { TaskStage } from '#run/check-record.ts';
import { mayApply } from '#run/lifecycle.ts';
import type { CheckState, WaitingState } from '#run/machine-states.ts';
import type { PhaseReport } from '#run/phase-report.ts';
import type { Run } from '#run/run.ts';

/** Possible events of a run, state by state; explorer.ts explores the machine's reactions. */

type Happening = (run: Run) => Run;

const cancel: Happening = (run) => ({ ...run, cancel: { by: 'user-1', at: '', forceAvailableAt: '' } });
const discard: Happening = (run) => ({
  ...run,
  decision: { action: 'discard', by: 'user-1', at: '' },
});
const confirm: Happening = (run) => ({
  ...run,
  status: 'confirmed',
  decision: { action: 'apply', by: 'user-1', at: '' },
});
const report = (phase: 'plan' | 'apply', phaseReport: PhaseReport): Happening => {
  return (run) => ({ ...run, [phase]: { ...run[phase], report: phaseReport } });
};
const claim = (phase: 'plan' | 'apply'): Happening => {
  return (run) => ({ ...run, [phase]: { ...run[phase], claimNonce: 'n' } });
};
/** Only the runner of a plan that may be applied stays ready. */
const staysReady: Happening = (run) =>
  mayApply(run) && !run.savePlan
    ? { ...run, plan: { ...run.plan, ready: { keyHash: 'key', until: '2099-01-01T00:00:00.000Z' } } }
    : run;
const verdict = (verdicts: NonNullable<Run['verdicts']>, failure?: string): Happening => {
  return (run) => ({ ...run, verdicts: { ...run.verdicts, ...verdicts }, ...(failure ? { failure } : {}) });
};
const estimated = (status: 'finished' | 'errored'): Happening => {
  return (run) => ({ ...run, costEstimate: { status, statusTimestamps: {} } });
};
const override = (which: 'policyEvaluation' | 'policyCheck'): Happening => {
  return (run) => ({ ...run, overrides: { ...run.overrides, [which]: { by: 'user-1', at: '' } } });
};

/**
 * Events in a waiting state; a cancel may have been accepted on the way there. Events that are not listed here are
 * errors of the platform or time limits, not outcomes of the run.
 */
export const whileWaiting: Record<WaitingState, Record<string, Happening>> = {
  Pending: { 'its turn': (run) => ({ ...run, current: true }), canceled: cancel, discarded: discard },
  Fetching: {
    uploaded: verdict({ fetching: 'passed' }),
    'uploaded an invalid archive': verdict({ fetching: 'failed' }, 'not a gzip file'),
    canceled: cancel,
  },
  PlanAwaitingSlot: {
    'its slot': (run) => ({ ...run, slot: 'plan' }),
    canceled: cancel,
    discarded: discard,
  },
  PlanQueued: {
    claimed: claim('plan'),
    canceled: cancel,
    'runner died before its claim': report('plan', { outcome: 'errored' }),
  },
  Planning: {
    'changes to apply': report('plan', { outcome: 'finished', hasChanges: true }),
    'changes to apply, and its runner is ready': (run) =>
      staysReady(report('plan', { outcome: 'finished', hasChanges: true })(run)),
    'no changes': report('plan', { outcome: 'finished', hasChanges: false }),
    errored: report('plan', { outcome: 'errored', message: 'no such variable' }),
    canceled: (run) => report('plan', { outcome: 'canceled' })(cancel(run)),
    'finished while canceled': (run) => report('plan', { outcome: 'finished', hasChanges: true })(cancel(run)),
    'discarded as it began': (run) => report('plan', { outcome: 'canceled' })(discard(run)),
  },
  PostPlanAwaitingDecision: { overridden: override('policyEvaluation'), discarded: discard, canceled: cancel },
  PolicyOverride: { overridden: override('policyCheck'), discarded: discard, canceled: cancel },
  NeedsConfirmation: { confirmed: confirm, discarded: discard, canceled: cancel },
  PlannedAndSaved: { confirmed: confirm, discarded: discard, canceled: cancel },
  Confirmed: { 'its turn': (run) => ({ ...run, current: true }), canceled: cancel },
  ApplyAwaitingSlot: { 'its slot': (run) => ({ ...run, slot: 'apply' }), canceled: cancel },
  ApplyQueued: {
    claimed: claim('apply'),
    canceled: cancel,
    'runner died before its claim': report('apply', { outcome: 'errored' }),
  },
  Applying: {
    applied: report('apply', { outcome: 'finished' }),
    errored: report('apply', { outcome: 'errored', message: 'out of addresses' }),
    canceled: (run) => report('apply', { outcome: 'canceled' })(cancel(run)),
    'finished while canceled': (run) => report('apply', { outcome: 'finished' })(cancel(run)),
  },
};

export const whileTasksRun: Record<string, Happening> = { 'all answered': (run) => run, canceled: cancel };

export const whenTasksAreDone = (stage: TaskStage): Record<string, Happening> => ({
  passed: verdict({ [stage]: 'passed' }),
  // Tasks after an apply can only warn.
  ...(stage === 'post_apply' ? {} : { failed: verdict({ [stage]: 'failed' }, 'a mandatory task failed') }),
  'passed while canceled': (run) => verdict({ [stage]: 'passed' })(cancel(run)),
});

export const whileChecking: Record<CheckState, Record<string, Happening>> = {
  PolicyEvaluating: {
    passed: verdict({ policyEvaluation: 'passed' }),
    'failed, may be overridden': verdict({ policyEvaluation: 'overridable' }, 'no public buckets'),
    failed: verdict({ policyEvaluation: 'failed' }, 'no public buckets'),
    'passed while canceled': (run) => verdict({ policyEvaluation: 'passed' })(cancel(run)),
  },
  CostEstimating: {
    finished: estimated('finished'),
    errored: estimated('errored'),
    'finished while canceled': (run) => estimated('finished')(cancel(run)),
  },
  PolicyChecking: {
    passed: verdict({ policyCheck: 'passed' }),
    'soft-mandatory failed': verdict({ policyCheck: 'soft_failed' }, 'too expensive'),
    'hard-mandatory failed': verdict({ policyCheck: 'hard_failed' }, 'no public buckets'),
    'passed while canceled': (run) => verdict({ policyCheck: 'passed' })(cancel(run)),
  },
};
