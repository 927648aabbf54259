import { expect, it } from 'vitest';
import { isHidden } from '#run/hidden.ts';
import { operationOf } from '#run/operation.ts';
import { rankOfSet } from '#run/provider-sets.ts';
import type { Run } from '#run/run.ts';
import { newRun } from '#test/support/run.ts';

it.each<[Partial<Run>, string]>([
  [{}, 'plan_and_apply'],
  [{ planOnly: true, isDestroy: true }, 'plan_only'],
  [{ savePlan: true, isDestroy: true }, 'save_plan'],
  [{ isDestroy: true }, 'destroy'],
  [{ refreshOnly: true }, 'refresh_only'],
  [{ allowEmptyApply: true }, 'empty_apply'],
  [{ invokeActionAddrs: ['action.a.b'] }, 'action_only'],
  [{ invokeActionAddrs: ['action.a.b'], planOnly: true }, 'plan_only'],
])('a run with %j has the operation %s', (options, operation) => {
  expect(operationOf(newRun(options))).toBe(operation);
});

it('assessments, tests of modules and queries are hidden, and no other run is', () => {
  expect(isHidden(newRun())).toBe(false);
  for (const kind of ['assessment', 'test', 'query']) expect(isHidden({ [kind]: {} } as never), kind).toBe(true);
});

it('a provider is configured by the priority set with the widest scope, otherwise by the set with the narrowest scope', () => {
  const scopes = { global: false, ofProject: false, ofWorkspace: false };
  const [global, project, workspace] = [
    { ...scopes, global: true },
    { ...scopes, ofProject: true },
    { ...scopes, ofWorkspace: true },
  ];
  const order: [boolean, typeof scopes][] = [
    [true, global],
    [true, project],
    [true, workspace],
    [false, workspace],
    [false, project],
    [false, global],
  ];
  expect(order.map(([priority, set]) => rankOfSet(priority, set))).toEqual([0, 1, 2, 3, 4, 5]);
  expect(rankOfSet(true, { ...workspace, global: true })).toBe(0);
  expect(rankOfSet(false, { ...workspace, global: true })).toBe(3);
  expect([true, false].map((priority) => rankOfSet(priority, scopes))).toEqual([undefined, undefined]);
});
