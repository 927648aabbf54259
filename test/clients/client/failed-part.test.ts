import { expect, it } from 'vitest';
import type { Resource } from '#clients/client/client.ts';
import { failedPart } from '#clients/client/run-facts.ts';

const run = (attributes: object) =>
  ({
    attributes: { status: 'errored', 'failed-step': null, 'status-timestamps': {}, ...attributes },
  }) as Resource<'runs'>;
const stages = (status: string) => [{ attributes: { stage: 'post_plan', status } }] as Resource<'task-stages'>[];

it.each([
  [
    'Terraform',
    { 'status-timestamps': { 'apply-queued-at': '2026-01-01T00:00:00Z' } },
    stages('passed'),
    'apply-error',
  ],
  ['a policy evaluation', { 'failed-step': 'policy check' }, stages('failed'), 'policy-evaluation'],
  ['a policy check', { 'failed-step': 'policy check' }, stages('passed'), 'policy-check'],
  ['a plan-only run\u2019s check', { 'failed-step': 'policy check', status: 'policy_soft_failed' }, [], 'policy-check'],
  ['a run task', { 'failed-step': 'run task scan' }, stages('errored'), 'tasks-post_plan'],
  ['a fetch', { 'failed-step': 'configuration not fetched' }, stages('unreachable'), undefined],
])('a run that %s failed leads there', (_, attributes, taskStages, part) => {
  expect(failedPart(run(attributes), taskStages)?.id).toBe(part);
});
