import { describe, expect, it } from 'vitest';
import { aliases, endings, taskStates, waitingStates } from '#run/machine-states.ts';
import type { Run } from '#run/run.ts';
import type { RunStatus } from '#run/status.ts';
import { isFinal, isPhaseFinal } from '#run/status.ts';
import { explore, type Machine, type Path } from '#test/support/explorer.ts';
import { newRun } from '#test/support/run.ts';
import { synthesizedMachine } from './template.ts';

const machine = synthesizedMachine() as Machine;

const kinds = {
  'plan and apply': {},
  'auto-apply': { autoApply: true },
  'plan-only': { planOnly: true },
  destroy: { isDestroy: true },
  'refresh-only': { refreshOnly: true },
  'empty apply': { allowEmptyApply: true },
  'saved plan': { savePlan: true, autoApply: true },
  limited: { limited: true },
  'limited auto-apply': { limited: true, autoApply: true },
} satisfies Record<string, Partial<Run>>;

const stage = (digit: number) => ({ id: `ts-${digit}`, taskResultIds: [`taskrs-${digit}`] });
const tasks = { pre_plan: stage(1), post_plan: stage(2), pre_apply: stage(3), post_apply: stage(4) };
const estimate: Partial<Run> = { costEstimate: { status: 'pending', statusTimestamps: {} } };
const configured: Record<string, Partial<Run>> = {
  '': {},
  ', fetching': { checks: { fetching: true } },
  ', tasks': { checks: { tasks } },
  ', policies': { checks: { policyEvaluation: true, policyCheck: true } },
  ', OPA': { checks: { policyEvaluation: true } },
  ', policy check': { checks: { policyCheck: true } },
  ', post-plan tasks': { checks: { tasks: { post_plan: tasks.post_plan } } },
  ', OPA and pre-apply tasks': { checks: { policyEvaluation: true, tasks: { pre_apply: tasks.pre_apply } } },
  ', pre-apply tasks': { checks: { tasks: { pre_apply: tasks.pre_apply } } },
  ', cost': estimate,
  ', post-plan tasks and cost': { checks: { tasks: { post_plan: tasks.post_plan } }, ...estimate },
  ', post-plan tasks and policy check': { checks: { tasks: { post_plan: tasks.post_plan }, policyCheck: true } },
  ', OPA and cost': { checks: { policyEvaluation: true }, ...estimate },
  ', cost and pre-apply tasks': { checks: { tasks: { pre_apply: tasks.pre_apply } }, ...estimate },
  ', everything': { checks: { fetching: true, tasks, policyEvaluation: true, policyCheck: true }, ...estimate },
};

const starts = Object.fromEntries(
  Object.entries(kinds).flatMap(([kind, options]) =>
    Object.entries(configured).map(([what, more]) => [`${kind}${what}`, newRun({ ...options, ...more })]),
  ),
);

/** A finished plan, or any check of it, may lead to the confirmation or to the apply. */
const onwards: RunStatus[] = [
  'planned_and_finished',
  'planned_and_saved',
  'confirmed',
  'pre_apply_running',
  'apply_queued',
  'discarded',
  'canceled',
  'errored',
];
/**
 * The documented transitions of a run's status. A completed stage is stamped together with the next status. A run that
 * waits for a user can still be canceled by a cancel that was accepted earlier.
 */
const documented: Partial<Record<RunStatus, RunStatus[]>> = {
  pending: ['fetching', 'pre_plan_running', 'plan_queued', 'discarded', 'canceled', 'errored'],
  fetching: ['fetching_completed', 'canceled', 'errored'],
  fetching_completed: ['pre_plan_running', 'plan_queued'],
  pre_plan_running: ['pre_plan_completed', 'canceled', 'errored'],
  pre_plan_completed: ['plan_queued', 'canceled'],
  // A run that waits for a slot can be discarded.
  plan_queued: ['planning', 'discarded', 'canceled', 'errored'],
  // A discard may be accepted when the plan begins.
  planning: ['planned', 'discarded', 'canceled', 'errored'],
  planned: ['post_plan_running', 'cost_estimating', 'policy_checking', ...onwards],
  post_plan_running: ['post_plan_completed', 'post_plan_awaiting_decision', 'canceled', 'errored'],
  post_plan_awaiting_decision: ['post_plan_completed', 'discarded', 'canceled', 'errored'],
  post_plan_completed: ['cost_estimating', 'policy_checking', ...onwards],
  cost_estimating: ['cost_estimated', 'errored'],
  cost_estimated: ['policy_checking', ...onwards],
  policy_checking: ['policy_checked', 'policy_override', 'policy_soft_failed', 'errored'],
  policy_override: ['policy_checked', 'discarded', 'canceled', 'errored'],
  policy_checked: onwards,
  planned_and_saved: ['confirmed', 'discarded', 'canceled', 'errored'],
  confirmed: ['pre_apply_running', 'apply_queued', 'canceled', 'errored'],
  pre_apply_running: ['pre_apply_completed', 'canceled', 'errored'],
  // A second confirmation, because the authors of the run lost the permission to apply.
  pre_apply_completed: [
    'apply_queued',
    'canceled',
    'planned',
    'post_plan_completed',
    'cost_estimated',
    'policy_checked',
  ],
  apply_queued: ['applying', 'canceled', 'errored'],
  applying: ['post_apply_running', 'applied', 'canceled', 'errored'],
  post_apply_running: ['post_apply_completed', 'applied', 'canceled'],
  post_apply_completed: ['applied'],
};

const paths: Path[] = Object.entries(starts).flatMap(([name, run]) => explore(machine, name, run));
const describePath = (path: Path) => `${path.start}: ${path.happenings.join(' → ')}`;
const says = (path: Path) => `${describePath(path)}: ${path.states.join(' → ')}`;
const order = Object.keys(machine.States);

describe('the run state machine', () => {
  it('reaches every state and every ending', () => {
    const reached = new Set(paths.flatMap(({ states }) => states));
    expect([...reached].sort()).toEqual(Object.keys(machine.States).sort());
    expect(new Set(paths.map(({ ending }) => ending))).toEqual(new Set(Object.keys(endings)));
    console.log(
      `${paths.length} paths over ${Object.keys(machine.States).length} states from ${Object.keys(starts).length} kinds of run`,
    );
  });

  it('leads down only, in the order of its definition', () => {
    const up = Object.entries(machine.States).flatMap(([name, { Next, Default, Choices = [], Catch = [] }]) =>
      [Next, Default, ...Choices.map((way) => way.Next), ...Catch.map((way) => way.Next)]
        .filter((to) => to !== undefined && order.indexOf(to) <= order.indexOf(name))
        .map((to) => `${name} → ${to}`),
    );
    expect(up).toEqual([]);
  });

  it('takes every run through its states from top to bottom, each entered once', () => {
    const isDownwards = ({ states }: Path): boolean => {
      const places = states.map((name) => order.indexOf(name));
      return places.every((place, i) => i === 0 || place > (places[i - 1] as number));
    };
    expect(paths.filter((path) => !isDownwards(path)).map(says)).toEqual([]);
  });

  it('catches no error on the path of a successful run', () => {
    const well = paths.filter(({ ending }) => ['Applied', 'PlannedAndFinished'].includes(ending));
    expect(well.length).toBeGreaterThan(1000);
    const caught = new Set(well.flatMap(({ caught }) => caught));
    // An estimate cannot fail a run, and post-apply tasks only warn.
    expect([...caught].sort()).toEqual([
      'CostEstimating: Lambda.Unknown',
      'PostApplyTasks: Lambda.Unknown',
      'PostApplyTasksDone: Lambda.Unknown',
    ]);
  });

  it('takes every branch of its Choices on some path', () => {
    const taken = new Set(paths.flatMap(({ states }) => states.map((name, i) => `${name} → ${states[i + 1]}`)));
    const ways = Object.entries(machine.States).flatMap(([name, { Choices = [], Default }]) =>
      Default ? [Default, ...Choices.map(({ Next }) => Next)].map((to) => `${name} → ${to}`) : [],
    );
    expect(ways.length).toBeGreaterThan(40);
    expect(ways.filter((way) => !taken.has(way))).toEqual([]);
  });

  it('finishes every run exactly once, in a final status, with plan and apply settled', () => {
    const isOver = ({ finished, run: { status, plan, apply } }: Path): boolean =>
      finished === 1 && isFinal(status) && isPhaseFinal(plan.status) && isPhaseFinal(apply.status);
    expect(paths.filter((path) => !isOver(path)).map(describePath)).toEqual([]);
  });

  it('makes only documented status transitions, and all of them', () => {
    const visited = new Map<string, Set<RunStatus>>();
    for (const path of paths) {
      path.statuses.slice(1).forEach((to, i) => {
        const from = path.statuses[i] as RunStatus;
        if (!documented[from]?.includes(to)) {
          throw new Error(`${from} → ${to}; ${describePath(path)}: ${path.statuses.join(' → ')}`);
        }
        visited.set(from, (visited.get(from) ?? new Set()).add(to));
      });
    }
    const sorted = (ways: Iterable<[string, Iterable<RunStatus>]>) =>
      Object.fromEntries([...ways].map(([from, to]) => [from, [...to].sort()]));
    expect(sorted(visited)).toEqual(sorted(Object.entries(documented)));
    const count = [...visited.values()].reduce((sum, ways) => sum + ways.size, 0);
    console.log(`${count} ways out of ${visited.size} statuses, each on some path`);
  });

  it('never applies a plan-only or unconfirmed run', () => {
    const isAllowed = ({ start, happenings }: Path): boolean => {
      if (start.startsWith('plan-only')) return false;
      const automatic = start.includes('auto-apply') || start.startsWith('empty apply');
      const withdrawn = happenings.some((one) => one.endsWith('permission withdrawn'));
      const waitState = start.startsWith('saved plan') ? 'PlannedAndSaved' : 'NeedsConfirmation';
      const confirmations = [`${waitState}: confirmed`, 'NeedsConfirmationAfterTasks: confirmed'];
      return (automatic && !withdrawn) || happenings.some((one) => confirmations.includes(one));
    };
    const applying = paths.filter(({ states }) => states.includes('Applying'));
    expect(applying.filter((path) => !isAllowed(path)).map(describePath)).toEqual([]);
  });

  it('never continues after a failed mandatory task, policy or fetch', () => {
    const continues = ({ happenings, states }: Path): boolean => {
      const refused = (what: string) => happenings.some((one) => one.endsWith(what));
      if (refused('PrePlanTasksDone: failed') || refused('uploaded an invalid archive')) {
        return states.includes('Planning') || states.includes('Applying');
      }
      if (!states.includes('Applying')) return false;
      const stopped = ['PostPlanTasksDone: failed', 'PolicyEvaluating: failed', 'hard-mandatory failed'];
      if ([...stopped, 'PreApplyTasksDone: failed'].some(refused)) return true;
      return [
        ['PolicyEvaluating: failed, may be overridden', 'PostPlanAwaitingDecision'],
        ['PolicyChecking: soft-mandatory failed', 'PolicyOverride'],
      ].some(
        ([failed = '', waitState]) =>
          refused(failed) && !happenings.some((one) => one.startsWith(`${waitState}: overridden`)),
      );
    };
    expect(paths.filter(continues).map(describePath)).toEqual([]);
  });

  it('needs 10 state transitions for a confirmed run, 7 with auto-apply, 2 more in a queue, and few more per stage', () => {
    const shortest = (start: string, way: (path: Path) => boolean = () => true) =>
      Math.min(
        ...paths
          .filter((path) => path.start === start && path.ending === 'Applied' && way(path))
          .map(({ states }) => states.length),
      );
    expect(shortest('plan and apply')).toBe(10);
    const plain = shortest('auto-apply');
    expect(plain).toBe(7);
    expect(shortest('auto-apply', ({ states }) => states.includes('Pending'))).toBe(9);
    // Without a limit, slots cost no transition.
    expect(shortest('limited')).toBe(12);
    expect(shortest('limited auto-apply')).toBe(8);
    expect(shortest('auto-apply, fetching') - plain).toBeLessThanOrEqual(4);
    expect(shortest('auto-apply, cost') - plain).toBeLessThanOrEqual(4);
    expect(shortest('auto-apply, policies') - plain).toBeLessThanOrEqual(2 * 4);
    expect(shortest('auto-apply, tasks') - plain).toBeLessThanOrEqual(4 * 4);
    const overridden = ({ happenings }: Path) => happenings.filter((one) => one.endsWith(': overridden')).length === 2;
    // After an override the apply is queued: one more state.
    expect(shortest('auto-apply, policies', overridden) - plain).toBeLessThanOrEqual(2 * 4 + 1);
  });

  it('runs the tasks of a stage in parallel, each with its own timeout', () => {
    const maps = Object.entries(machine.States).filter(([, { Type }]) => Type === 'Map');
    expect(maps.map(([name]) => name).sort()).toEqual(Object.keys(taskStates).sort());
    for (const [name, map] of maps) {
      const task = name.slice(0, -1);
      expect(map).not.toHaveProperty('MaxConcurrency');
      expect(map.ItemProcessor).toMatchObject({
        StartAt: task,
        States: { [task]: { HeartbeatSeconds: 600, TimeoutSeconds: 3600, End: true } },
      });
    }
  });

  it('limits every wait and requires heartbeats from runners', () => {
    const waits = Object.entries(machine.States).filter(([, { Resource }]) => Resource?.endsWith('waitForTaskToken'));
    expect(waits).toHaveLength(waitingStates.length + Object.keys(aliases).length);
    for (const [name, state] of waits) {
      expect('TimeoutSeconds' in state || 'TimeoutSecondsPath' in state, name).toBe(true);
    }
    expect(machine.States.Planning).toMatchObject({ HeartbeatSeconds: 60 });
    expect(machine.States.Applying).toMatchObject({ HeartbeatSeconds: 60 });
  });

  it('retries starting a runner for three days, within the events of a history, while there is no capacity', () => {
    let attempts = 0;
    for (const name of ['PlanQueued', 'ApplyQueued']) {
      const { Retry } = machine.States[name] as { Retry?: Record<string, number & string[]>[] };
      const retry = Retry?.find(({ ErrorEquals }) => ErrorEquals?.includes('CapacityUnavailableError'));
      const { IntervalSeconds = 0, BackoffRate = 0, MaxDelaySeconds = 0, MaxAttempts = 0 } = retry ?? {};
      const pauses = Array.from({ length: MaxAttempts }, (_, n) =>
        Math.min(MaxDelaySeconds, IntervalSeconds * BackoffRate ** n),
      );
      expect(pauses.reduce((sum, seconds) => sum + seconds, 0)).toBeGreaterThan(3 * 24 * 3600);
      // So that the run is planned soon after there is capacity.
      expect(pauses.at(-1)).toBeLessThanOrEqual(120);
      attempts += MaxAttempts;
    }
    // Step Functions: 25,000 events; an attempt is scheduled, started, submitted and failed.
    expect(attempts * 4).toBeLessThan(20_000);
  });
});
