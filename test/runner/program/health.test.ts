import { expect, it } from 'vitest';
import { healthIn, isStoppedByCondition } from '#runner/program/health.ts';
import type { PlanJson } from '#runner/program/plan-json.ts';

const change = (address: string, action: string, mode = 'managed') => ({
  address,
  mode,
  type: 'file',
  provider_name: 'p',
  change: { actions: [action] },
});

const plan = (parts: Partial<PlanJson>): PlanJson => ({ format_version: '1.2', ...parts });

const prior = {
  values: { root_module: { resources: Array(3).fill({ mode: 'managed', type: 'file', provider_name: 'p' }) } },
};

it('drift counts changed or deleted resources that an apply would restore', () => {
  const health = healthIn(
    plan({
      prior_state: prior,
      resource_drift: [change('a', 'update'), change('b', 'delete'), change('unconfigured', 'update')],
      resource_changes: [
        change('a', 'update'),
        change('b', 'create'),
        change('unconfigured', 'no-op'),
        change('c', 'update'),
      ],
    }),
  );
  expect(health).toEqual({ resourcesDrifted: 2, resourcesUndrifted: 2 });
});

it('drift includes a resource under its former address, and no data sources', () => {
  const moved = { ...change('new', 'update'), previous_address: 'old' };
  const parts = { resource_drift: [change('old', 'update'), change('data.x', 'update', 'data')] };
  expect(healthIn(plan({ ...parts, resource_changes: [moved, change('data.x', 'update', 'data')] }))).toMatchObject({
    resourcesDrifted: 1,
  });
});

it('checks are counted by instance, without validations of variables', () => {
  const checks: PlanJson['checks'] = [
    { address: { kind: 'resource' }, status: 'fail', instances: [{ status: 'pass' }, { status: 'fail' }] },
    { address: { kind: 'check' }, status: 'unknown' },
    { address: { kind: 'output_value' }, status: 'error', instances: [{ status: 'error' }] },
    { address: { kind: 'var' }, status: 'fail' },
  ];
  expect(healthIn(plan({ checks }))).toMatchObject({
    checksPassed: 1,
    checksFailed: 1,
    checksErrored: 1,
    checksUnknown: 1,
  });
  expect(healthIn(plan({}))).not.toHaveProperty('checksPassed');
});

it('an errored plan has no drift', () => {
  const checks: PlanJson['checks'] = [{ address: { kind: 'resource' }, status: 'fail' }];
  const errored = plan({ errored: true, checks, resource_drift: [change('a', 'update')] });
  expect(healthIn(errored)).not.toHaveProperty('resourcesDrifted');
  expect(isStoppedByCondition(errored)).toBe(true);
  const warned: PlanJson['checks'] = [{ address: { kind: 'check' }, status: 'fail' }];
  expect(isStoppedByCondition(plan({ errored: true, checks: warned }))).toBe(false);
});
