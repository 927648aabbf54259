import { expect, it } from 'vitest';
import type { Overrides, Verdicts } from '#run/check-record.ts';
import { resume } from '#run/lifecycle.ts';
import { waitingStates } from '#run/machine-states.ts';
import type { Phase, Run } from '#run/run.ts';
import type { RunStatus } from '#run/status.ts';
import { newRun } from '#test/support/run.ts';

/** Events that resume a waiting execution, state by state: each row is one arrow of the lifecycle. */

const by = { by: 'user-1', at: '' };
const cancel = { ...by, forceAvailableAt: '' };
const confirmed = { decision: { action: 'apply', ...by } } as const;
const discarded = { decision: { action: 'discard', ...by } } as const;
const discardedByPlatform = { decision: { action: 'discard', at: '', reason: 'The state has changed.' } } as const;
const phase = (change: Partial<Phase>): Phase => ({ status: 'pending', statusTimestamps: {}, ...change });
const reported = (outcome: 'finished' | 'errored' | 'canceled', message?: string) =>
  phase({ claimNonce: 'n', report: { outcome, hasChanges: true, ...(message ? { message } : {}) } });
const verdicts = (change: Verdicts) => ({ verdicts: change });

const goesOn = { output: {} };
const goesTo = (next: string) => ({ output: { next } });
const stage = { id: 'ts-1', taskResultIds: ['taskrs-1'] };
const tasks = { checks: { tasks: { pre_plan: stage, pre_apply: stage, post_apply: stage } } };
const Canceled = { error: 'Canceled', cause: 'canceled by user-1' };
const Discarded = { error: 'Discarded', cause: 'discarded by user-1' };

/** Statuses of the run in states other than the first. */
const statusIn: Record<string, RunStatus> = {
  Fetching: 'fetching',
  PlanQueued: 'plan_queued',
  Planning: 'planning',
  PostPlanAwaitingDecision: 'post_plan_awaiting_decision',
  PolicyOverride: 'policy_override',
  NeedsConfirmation: 'planned',
  PlannedAndSaved: 'planned_and_saved',
  Confirmed: 'confirmed',
  ApplyQueued: 'apply_queued',
  Applying: 'applying',
};

type Row = [state: string, fact: string, change: Partial<Run>, resumes: object | undefined];

const rows: Row[] = [
  ['Pending', 'waits behind other runs', {}, undefined],
  ['Pending', 'is confirmed, which has no effect here', confirmed, undefined],
  ['Pending', 'becomes current', { current: true }, goesTo('PlanQueued')],
  ['Pending', 'is plan-only', { planOnly: true }, goesTo('PlanQueued')],
  ['Pending', 'saves its plan', { savePlan: true }, goesTo('PlanQueued')],
  [
    'Pending',
    'has no configuration',
    { current: true, checks: { ...tasks.checks, fetching: true } },
    goesTo('Fetching'),
  ],
  ['Pending', 'has run tasks before its plan', { current: true, ...tasks }, goesTo('PrePlanTasks')],
  ['Pending', 'is discarded', discarded, Discarded],
  ['Pending', 'is canceled', { cancel }, Canceled],
  ['Fetching', 'has no configuration yet', {}, undefined],
  ['Fetching', 'has its configuration', { current: true, ...verdicts({ fetching: 'passed' }) }, goesTo('PlanQueued')],
  [
    'Fetching',
    'has run tasks before its plan',
    { current: true, ...tasks, ...verdicts({ fetching: 'passed' }) },
    goesTo('PrePlanTasks'),
  ],
  [
    'Fetching',
    'has an invalid configuration',
    { ...verdicts({ fetching: 'failed' }), failure: 'It is damaged.' },
    { error: 'ConfigurationFailed', cause: 'It is damaged.' },
  ],
  ['Fetching', 'is canceled', { cancel }, Canceled],
  ['Fetching', 'was discarded on the way here', discarded, Discarded],
  [
    'Fetching',
    'has its configuration and needs a slot',
    { limited: true, current: true, ...verdicts({ fetching: 'passed' }) },
    goesTo('PlanAwaitingSlot'),
  ],
  ['PlanAwaitingSlot', 'has no slot yet', { limited: true }, undefined],
  ['PlanAwaitingSlot', 'has a slot', { limited: true, slot: 'plan' }, goesOn],
  ['PlanAwaitingSlot', 'is canceled', { limited: true, slot: 'plan', cancel }, Canceled],
  ['PlanAwaitingSlot', 'is discarded', { limited: true, ...discarded }, Discarded],
  ['PlanQueued', 'has no runner yet', { current: true }, undefined],
  ['PlanQueued', 'has a runner', { current: true, plan: phase({ claimNonce: 'n' }) }, goesOn],
  ['PlanQueued', 'is canceled', { current: true, cancel }, Canceled],
  [
    'PlanQueued',
    'has a runner that failed immediately',
    { current: true, plan: reported('errored', 'no disk') },
    { error: 'TerraformFailed', cause: 'no disk' },
  ],
  ['Planning', 'has a plan in progress', {}, undefined],
  ['Planning', 'has a plan', { plan: reported('finished') }, { output: { next: 'NeedsConfirmation' } }],
  [
    'Planning',
    'has a failed plan',
    { plan: reported('errored') },
    { error: 'TerraformFailed', cause: 'terraform plan failed' },
  ],
  [
    'Planning',
    'has an interrupted plan',
    { plan: reported('canceled') },
    { error: 'Canceled', cause: 'canceled by the runner' },
  ],
  ...(['PrePlanTasks', 'PostPlanTasks', 'PreApplyTasks', 'PostApplyTasks'] as const).flatMap((state): Row[] => [
    [state, 'waits for run tasks', {}, undefined],
    [state, 'is canceled', { cancel }, Canceled],
  ]),
  ...(['PostPlanAwaitingDecision', 'PolicyOverride'] as const).flatMap((state): Row[] => {
    const policies = state === 'PolicyOverride' ? 'policyCheck' : 'policyEvaluation';
    const other = state === 'PolicyOverride' ? 'policyEvaluation' : 'policyCheck';
    const overridden = (which: keyof Overrides): Partial<Run> => ({
      overrides: { [which]: by },
      plan: reported('finished'),
    });
    return [
      [state, 'waits for an override', { plan: reported('finished') }, undefined],
      [state, 'has its policies overridden', overridden(policies), { output: { next: 'NeedsConfirmation' } }],
      [state, 'has other policies overridden', overridden(other), undefined],
      [state, 'is discarded', discarded, Discarded],
      [state, 'is canceled', { cancel }, Canceled],
    ];
  }),
  ...(['NeedsConfirmation', 'PlannedAndSaved'] as const).flatMap((state): Row[] => [
    [state, 'waits for a confirmation', {}, undefined],
    [state, 'is confirmed', confirmed, goesTo('ApplyQueued')],
    [state, 'has run tasks before its apply', { ...confirmed, ...tasks }, goesTo('PreApplyTasks')],
    [state, 'is discarded', discarded, Discarded],
    [
      state,
      'is discarded by the platform',
      discardedByPlatform,
      { error: 'Discarded', cause: 'The state has changed.' },
    ],
    [state, 'is canceled', { cancel }, Canceled],
    [state, 'is canceled after its confirmation', { ...confirmed, cancel }, Canceled],
  ]),
  ['Confirmed', 'waits behind other runs', confirmed, undefined],
  ['Confirmed', 'becomes current', { ...confirmed, current: true }, goesTo('ApplyQueued')],
  ['Confirmed', 'has run tasks before its apply', { ...confirmed, current: true, ...tasks }, goesTo('PreApplyTasks')],
  ['Confirmed', 'is discarded', { ...discarded, current: true }, Discarded],
  ['Confirmed', 'is canceled', { ...confirmed, cancel, current: true }, Canceled],
  [
    'NeedsConfirmation',
    'is confirmed and needs a slot',
    { ...confirmed, limited: true, slot: 'plan' },
    goesTo('ApplyAwaitingSlot'),
  ],
  ['ApplyAwaitingSlot', 'has only the slot of its plan', { limited: true, slot: 'plan' }, undefined],
  ['ApplyAwaitingSlot', 'has a slot', { limited: true, slot: 'apply' }, goesOn],
  ['ApplyAwaitingSlot', 'is canceled', { limited: true, cancel }, Canceled],
  ['ApplyQueued', 'has no runner yet', {}, undefined],
  ['ApplyQueued', 'has a runner', { apply: phase({ claimNonce: 'n' }) }, goesOn],
  ['ApplyQueued', 'is canceled', { cancel }, Canceled],
  [
    'ApplyQueued',
    'could not be started',
    { apply: phase({ report: { outcome: 'errored', message: 'no disk' } }) },
    { error: 'TerraformFailed', cause: 'no disk' },
  ],
  ['ApplyQueued', 'has a runner that has reported', { apply: reported('errored') }, goesOn],
  ['Applying', 'has an apply in progress', {}, undefined],
  ['Applying', 'is applied', { apply: reported('finished') }, goesTo('Applied')],
  ['Applying', 'has run tasks after its apply', { apply: reported('finished'), ...tasks }, goesTo('PostApplyTasks')],
  ['Applying', 'fails', { apply: reported('errored') }, { error: 'TerraformFailed', cause: 'terraform apply failed' }],
];

it.each(rows)('a run in %s that %s', (state, _, change, expected) => {
  const run = newRun({
    wait: { state, token: 't' },
    ...(statusIn[state] ? { status: statusIn[state] } : {}),
    ...change,
  });
  expect(resume(run)).toEqual(expected);
});

it('the table has rows for every waiting state', () => {
  const covered = new Set(rows.map(([state]) => state));
  expect(waitingStates.filter((state) => !covered.has(state))).toEqual([]);
});
