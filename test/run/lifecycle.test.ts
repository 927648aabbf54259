import { describe, expect, it } from 'vitest';
import { endReason, finalPhases, statusAtEnd, takenInReason } from '#run/ending.ts';
import { appliesNext, exitOnEntry, firstState, mayApply, mayEnter, nextStep, resume } from '#run/lifecycle.ts';
import type { Ending } from '#run/machine-states.ts';
import type { Phase, Run } from '#run/run.ts';
import type { RunStatus } from '#run/status.ts';
import { newRun } from '#test/support/run.ts';

const finished = (hasChanges: boolean) => ({ outcome: 'finished' as const, hasChanges });
const phase = (change: Partial<Phase>): Phase => ({ status: 'pending', statusTimestamps: {}, ...change });
const cancel = { by: 'user-1', at: '', forceAvailableAt: '' };

describe('a finished plan', () => {
  it.each([
    ['waits for a confirmation', {}, true, 'NeedsConfirmation'],
    ['is applied automatically with auto-apply', { autoApply: true }, true, 'ApplyQueued'],
    [
      'of a commit, which has no author here, is applied automatically',
      { autoApply: true, appliesFor: [] },
      true,
      'ApplyQueued',
    ],
    [
      'waits for a confirmation when its author has no permission to apply',
      { autoApply: true, appliesFor: undefined },
      true,
      'NeedsConfirmation',
    ],
    [
      'waits for a confirmation even when it is empty',
      { allowEmptyApply: true, appliesFor: undefined },
      false,
      'NeedsConfirmation',
    ],
    ['without changes ends the run', { autoApply: true }, false, 'PlannedAndFinished'],
    ['is applied automatically when an empty apply is allowed', { allowEmptyApply: true }, false, 'ApplyQueued'],
    [
      'that is plan-only never continues',
      { planOnly: true, autoApply: true, allowEmptyApply: true },
      true,
      'PlannedAndFinished',
    ],
    ['is saved, with or without auto-apply', { savePlan: true, autoApply: true }, true, 'PlannedAndSaved'],
    ['is not saved without changes', { savePlan: true, allowEmptyApply: true }, false, 'PlannedAndFinished'],
    ['of a canceled run is canceled', { cancel, autoApply: true }, true, 'Canceled'],
  ])('%s', (_, options, hasChanges, next) => {
    const run = newRun({ ...(options as Partial<Run>), plan: phase({ report: finished(hasChanges) }) });
    expect(nextStep(run)).toBe(next);
    expect(mayApply(run)).toBe(next !== 'PlannedAndFinished' && next !== 'Canceled');
  });
});

describe('a run that reaches its plan', () => {
  it.each<[string, Partial<Run>, object | undefined]>([
    ['continues', { current: true }, undefined],
    ['ends when it was canceled before', { current: true, cancel }, { error: 'Canceled' }],
    ['ends when it was discarded before', { decision: { action: 'discard', at: '' } }, { error: 'Discarded' }],
  ])('%s', (_, change, expected) => {
    const exit = exitOnEntry('PlanQueued', newRun(change));
    if (expected) expect(exit).toMatchObject(expected);
    else expect(exit).toBeUndefined();
  });
});

describe('the states of runners', () => {
  const stage = { id: 'ts-1', taskResultIds: ['taskrs-1'] };
  const planned = phase({ status: 'finished', report: finished(true) });
  const decision = { action: 'apply', by: 'user-1', at: '' } as const;
  it.each<[string, 'PlanQueued' | 'ApplyQueued', boolean, Partial<Run>]>([
    ['a plan of the current run', 'PlanQueued', true, { current: true }],
    ['a plan-only run, which bypasses the queue', 'PlanQueued', true, { planOnly: true }],
    ['a plan behind other runs', 'PlanQueued', false, {}],
    ['a plan without its configuration', 'PlanQueued', false, { current: true, checks: { fetching: true } }],
    ['a plan before its run tasks', 'PlanQueued', false, { current: true, checks: { tasks: { pre_plan: stage } } }],
    [
      'a plan after run tasks that failed',
      'PlanQueued',
      false,
      { current: true, checks: { tasks: { pre_plan: stage } }, verdicts: { pre_plan: 'failed' } },
    ],
    ['a run that is canceled, and ends there', 'PlanQueued', true, { cancel }],
    ['a confirmed apply', 'ApplyQueued', true, { plan: planned, decision }],
    ['an automatic apply', 'ApplyQueued', true, { plan: planned, autoApply: true }],
    ['an apply that was not confirmed', 'ApplyQueued', false, { plan: planned }],
    [
      'an automatic apply without the permission of its author',
      'ApplyQueued',
      false,
      { plan: planned, autoApply: true, appliesFor: undefined },
    ],
    [
      'an apply before its run tasks',
      'ApplyQueued',
      false,
      { plan: planned, decision, checks: { tasks: { pre_apply: stage } } },
    ],
    [
      'an apply after run tasks that failed',
      'ApplyQueued',
      false,
      { plan: planned, decision, checks: { tasks: { pre_apply: stage } }, verdicts: { pre_apply: 'failed' } },
    ],
    ['an apply before a check', 'ApplyQueued', false, { plan: planned, decision, checks: { policyCheck: true } }],
  ])('accept or reject %s', (_, state, expected, change) => {
    expect(mayEnter(state, newRun(change))).toBe(expected);
  });
});

describe('a new run', () => {
  const stage = { id: 'ts-1', taskResultIds: ['taskrs-1'] };
  it.each<[string, Partial<Run>, string]>([
    ['waits for its turn', {}, 'Pending'],
    ['waits for its turn before its configuration', { checks: { fetching: true } }, 'Pending'],
    ['that is current is planned', { current: true }, 'PlanQueued'],
    ['that is current waits for its configuration', { current: true, checks: { fetching: true } }, 'Fetching'],
    ['that only plans is planned', { planOnly: true }, 'PlanQueued'],
    ['with run tasks is announced in Pending', { current: true, checks: { tasks: { pre_plan: stage } } }, 'Pending'],
  ])('%s', (_, change, expected) => {
    expect(firstState(newRun(change))).toBe(expected);
  });
});

describe('the reservation of the apply with the plan', () => {
  const wait = { state: 'Planning', token: 't' } as const;
  const planned = phase({ status: 'running', report: finished(true), ready: { keyHash: 'key', until: '2099' } });
  const ready = { wait, status: 'planning', autoApply: true, plan: planned } as const;
  const stage = { id: 'ts-1', taskResultIds: [] };
  it.each<[string, boolean, Partial<Run>]>([
    ['of a run with auto-apply', true, {}],
    ['not of a run that needs a confirmation', false, { autoApply: false }],
    ['not without the permission of its author', false, { appliesFor: undefined }],
    ['not of a canceled run', false, { cancel }],
    ['not of a discarded run', false, { decision: { action: 'discard', at: '' } }],
    ['not before a check', false, { checks: { policyEvaluation: true } }],
    ['not before run tasks', false, { checks: { tasks: { pre_apply: stage } } }],
    ['not of a failed plan', false, { plan: phase({ report: { outcome: 'errored' } }) }],
    ['not without changes', false, { plan: phase({ report: finished(false) }) }],
    ['not twice', false, { status: 'apply_queued' }],
    ['not before the machine waits for the plan', false, { wait: { ...wait, state: 'PlanQueued' } }],
  ])('%s: %s', (_, expected, change) => {
    expect(appliesNext(newRun({ ...ready, ...change }))).toBe(expected);
  });

  const reserved = { ...ready, status: 'apply_queued', apply: phase({ status: 'queued', claimHash: 'key' }) } as const;
  it.each<[string, object | undefined, Partial<Run>]>([
    ['waits for the claim of its runner', undefined, {}],
    ['ends when it is canceled before the claim', { error: 'Canceled' }, { cancel }],
    [
      'is applied by another runner if its own is lost',
      { output: { next: 'ApplyQueued' } },
      { plan: { ...planned, ready: undefined } },
    ],
    [
      'continues to the apply with the claim',
      { output: { next: 'Applying' } },
      { apply: { ...reserved.apply, claimNonce: 'n' } },
    ],
    [
      'continues to the apply even if canceled after the claim, and its runner is notified',
      { output: { next: 'Applying' } },
      { apply: { ...reserved.apply, claimNonce: 'n' }, cancel },
    ],
  ])('a reserved run %s', (_, expected, change) => {
    const answer = resume(newRun({ ...reserved, ...change }));
    if (expected) expect(answer).toMatchObject(expected);
    else expect(answer).toBeUndefined();
  });
});

describe('a waiting execution', () => {
  const waiting = (state: string, change: Partial<Run> = {}) =>
    resume(newRun({ wait: { state, token: 't' }, ...change }));

  it('sends nothing in states without notifications', () => {
    expect(resume(newRun())).toBeUndefined();
    for (const state of [
      'Pending',
      'PlanQueued',
      'Planning',
      'NeedsConfirmation',
      'PlannedAndSaved',
      'Confirmed',
      'ApplyQueued',
      'Applying',
    ]) {
      const status = { PlanQueued: 'plan_queued', ApplyQueued: 'apply_queued' }[state] ?? 'pending';
      expect(waiting(state, { status: status as RunStatus }), state).toBeUndefined();
    }
  });

  it('leaves Pending when it is first in the queue, or immediately when it does not queue', () => {
    expect(waiting('Pending', { current: true })).toEqual({ output: { next: 'PlanQueued' } });
    expect(waiting('Pending', { planOnly: true })).toEqual({ output: { next: 'PlanQueued' } });
    expect(waiting('Pending', { current: true, cancel })).toMatchObject({ error: 'Canceled' });
  });

  it('ignores answers meant for another state', () => {
    expect(waiting('Planning', { decision: { action: 'apply', by: 'user-1', at: '' } })).toBeUndefined();
    expect(waiting('NeedsConfirmation', { plan: phase({ report: finished(true) }) })).toBeUndefined();
  });

  it('starts a claimed apply although it is canceled, so that its runner reports the end', () => {
    const status = 'apply_queued';
    expect(waiting('ApplyQueued', { status, cancel })).toMatchObject({ error: 'Canceled' });
    expect(waiting('ApplyQueued', { status, cancel, apply: phase({ claimNonce: 'n' }) })).toEqual({ output: {} });
  });

  it('leaves ApplyQueued immediately if the run was discarded before', () => {
    const plan = phase({ report: finished(true) });
    const discarded = { action: 'discard', by: 'user-1', at: '' } as const;
    expect(waiting('ApplyQueued', { plan, autoApply: true })).toBeUndefined();
    expect(waiting('ApplyQueued', { plan, autoApply: true, decision: discarded })).toMatchObject({
      error: 'Discarded',
    });
  });

  it('accepts an apply that finished despite a cancel', () => {
    expect(waiting('Applying', { cancel, apply: phase({ report: { outcome: 'finished' } }) })).toEqual({
      output: { next: 'Applied' },
    });
    expect(waiting('Planning', { cancel, plan: phase({ report: finished(true) }) })).toMatchObject({
      error: 'Canceled',
    });
  });
});

describe('the end of a run', () => {
  it.each<[Ending, Partial<Run>, { plan: string; apply: string }]>([
    ['Canceled', {}, { plan: 'unreachable', apply: 'unreachable' }],
    ['Canceled', { plan: phase({ status: 'running' }) }, { plan: 'canceled', apply: 'unreachable' }],
    ['PlanErrored', { plan: phase({ status: 'running' }) }, { plan: 'errored', apply: 'unreachable' }],
    [
      'PlannedAndFinished',
      { plan: phase({ status: 'running', report: finished(false) }) },
      { plan: 'finished', apply: 'unreachable' },
    ],
    [
      'ApplyErrored',
      { plan: phase({ status: 'finished' }), apply: phase({ status: 'queued' }) },
      { plan: 'finished', apply: 'errored' },
    ],
    ['Discarded', { plan: phase({ status: 'finished' }) }, { plan: 'finished', apply: 'unreachable' }],
  ])('as %s sets plan and apply to %j', (ending, run, expected) => {
    expect(finalPhases(newRun(run), ending)).toEqual(expected);
  });

  it.each<[string, string, RegExp]>([
    ['TerraformFailed', 'no such variable', /^no such variable$/],
    ['States.HeartbeatTimeout', '', /stopped answering.*state is unchanged/i],
    ['States.Timeout', '', /took longer than its time limit/],
    ['ExecutionStopped', 'Its execution was stopped by an operator.', /stopped by an operator.*unchanged/],
    ['ConfigurationFailed', 'It is damaged.', /^It is damaged\.$/],
    ['DataRestored', 'The table was restored.', /^The table was restored\.$/],
    ['CapacityUnavailableError', 'No capacity.', /^No capacity\. Start a new run when there is capacity\.$/],
    ['Lambda.Unknown', '', /Lambda\.Unknown.*Start a new run/],
  ])('explains %s in plain words', (error, Cause, words) => {
    expect(
      endReason(newRun({ status: 'planning', plan: phase({ status: 'running' }) }), 'PlanErrored', {
        Error: error,
        Cause,
      }),
    ).toMatch(words);
  });

  it('is canceled if the run was canceled before its apply, even if it ended by another error', () => {
    expect(statusAtEnd(newRun({ cancel, status: 'planning' }), 'PlanErrored')).toBe('canceled');
    expect(statusAtEnd(newRun({ status: 'planning' }), 'PlanErrored')).toBe('errored');
    const decided = (action: 'discard' | 'apply') => newRun({ decision: { action, by: 'user-1', at: '' } });
    expect(statusAtEnd(decided('discard'), 'PlanErrored')).toBe('discarded');
    expect(statusAtEnd(decided('apply'), 'PlanErrored')).toBe('errored');
    expect(statusAtEnd(newRun({ cancel, status: 'applying' }), 'ApplyErrored')).toBe('errored');
  });

  it('explains which runner or agent did not start a queued phase in time', () => {
    const late = { Error: 'States.Timeout' };
    const pool = { id: 'apool-1', name: 'build' };
    const plan = newRun({ status: 'plan_queued', plan: phase({ status: 'queued' }) });
    const apply = newRun({ status: 'apply_queued', apply: phase({ status: 'queued' }) });
    expect(endReason(plan, 'PlanErrored', late)).toMatch(/^No runner could be started for the plan in time/);
    expect(endReason(apply, 'ApplyErrored', late)).toMatch(/^No runner could be started for the apply in time/);
    const agents = (run: Run) => endReason({ ...run, agentPool: pool }, 'ApplyErrored', late);
    expect(agents(apply)).toMatch(/^No agent of pool build picked up the apply in time\. Start one/);
    expect(agents({ ...apply, status: 'applying' })).toMatch(/^The apply took longer than its time limit/);
  });

  it('has the reason of a discard, of failed policies and tasks, and none if the status is clear enough', () => {
    const stale = { action: 'discard' as const, at: '', reason: 'The state has changed.' };
    const late = { Error: 'States.Timeout' };
    expect(endReason(newRun({ decision: stale }), 'Discarded', undefined)).toBe('The state has changed.');
    expect(endReason(newRun({ decision: stale }), 'Applied', undefined)).toBeUndefined();
    const done = newRun({ apply: phase({ status: 'running', report: { outcome: 'finished' } }) });
    expect(endReason(done, 'Canceled', undefined)).toMatch(/^The apply had finished .* Its changes stay\.$/);
    const byUser = newRun({ decision: { action: 'discard', by: 'user-1', at: '' } });
    expect(endReason(byUser, 'Discarded', undefined)).toBeUndefined();
    expect(endReason(newRun(), 'Discarded', late)).toBe('The plan was not confirmed in time.');
    const failed = newRun({ failure: 'Policy "a" failed.' });
    expect(endReason(failed, 'PolicySoftFailed', undefined)).toBe('Policy "a" failed.');
    expect(endReason(failed, 'PlanErrored', undefined)).toBe('Policy "a" failed.');
    expect(endReason(failed, 'PlanErrored', { Error: 'TerraformFailed', Cause: 'no disk' })).toBe('no disk');
    expect(endReason(failed, 'ApplyErrored', undefined)).toBeUndefined();
    expect(endReason(failed, 'PlannedAndFinished', undefined)).toBeUndefined();
  });

  it('explains where an unsaved state is, or which changes a lost state had', () => {
    const failed = { Error: 'TerraformFailed', Cause: 'no disk' };
    const unsaved = { runId: 'run-1', serial: 7, lineage: 'l', stored: true };
    const reasonOf = (change: Partial<Run>) => endReason(newRun(change), 'ApplyErrored', failed);
    expect(reasonOf({ unsaved })).toMatch(/^no disk A newer state \(serial 7\) .*errored state/);
    const identity = { serial: 7, lineage: 'l', md5: '' };
    const reported = phase({ report: { outcome: 'errored', unsavedState: identity } });
    expect(reasonOf({ unsaved, apply: reported }), 'the runner has said it').toBe('no disk');
    const lost = { ...unsaved, lost: true as const };
    const changes = { done: ['a.b (create)'], open: ['c.d (create)', 'e.f (update)'] };
    expect(reasonOf({ unsaved: { ...lost, changes } })).toMatch(
      /^no disk According to its log, a\.b \(create\) was done, and c\.d \(create\), e\.f \(update\) were started but not finished\. The workspace stays locked/,
    );
    expect(reasonOf({ unsaved: { ...lost, changes: { done: ['a', 'b'], open: [] } } })).toContain('a, b were done.');
    expect(reasonOf({ unsaved: { ...lost, changes: { done: [], open: ['a'] } } })).toContain(
      'a was started but not finished.',
    );
    expect(reasonOf({ unsaved: lost })).toMatch(/^no disk The workspace stays locked/);
    expect(takenInReason(newRun({ endReason: reasonOf({ unsaved: lost }) }), 9)).toBe(
      'no disk The workspace now has the newest state (serial 9), which the runner had kept on its disk.',
    );
  });

  it('reports the known facts about the state after an interrupted apply', () => {
    const run = newRun({
      status: 'applying',
      plan: phase({ status: 'finished' }),
      apply: phase({ status: 'running' }),
    });
    const missed = { Error: 'States.HeartbeatTimeout' };
    expect(endReason(run, 'ApplyErrored', missed)).toMatch(/during the apply.*state may be stale\. It contains/);
    const planned = { ...run, plan: { ...run.plan, report: { outcome: 'finished' as const, resourcesAfter: 5 } } };
    expect(endReason(planned, 'ApplyErrored', missed, 3)).toMatch(/state may be stale: 3 of 5 resources recorded\./);
  });

  it('reports a stale state for a canceled apply only if Terraform did not exit cleanly', () => {
    const run = newRun({
      status: 'applying',
      plan: phase({ status: 'finished' }),
      apply: phase({ status: 'running' }),
    });
    const cut = /^The apply was interrupted\. The state may be stale/;
    expect(endReason(run, 'Canceled', undefined)).toMatch(cut);
    const report = { outcome: 'canceled' as const };
    const reported = { ...run, apply: { ...run.apply, report } };
    expect(endReason(reported, 'Canceled', undefined)).toBeUndefined();
    for (const cutOff of [{ lost: true as const }, { unrecorded: [] }]) {
      const apply = { ...run.apply, report: { ...report, ...cutOff } };
      expect(endReason({ ...run, apply }, 'Canceled', undefined)).toMatch(cut);
    }
    const stateProblem = 'The state of this apply is kept.';
    const withProblem = { ...run, apply: { ...run.apply, report: { ...report, stateProblem } } };
    expect(endReason(withProblem, 'Canceled', undefined)).toBe(stateProblem);
    expect(endReason(newRun({ status: 'planning' }), 'Canceled', undefined)).toBeUndefined();
  });
});
