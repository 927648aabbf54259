import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type StageFacts, stagesOf } from '#run/stages.ts';
import { type RunStatus, runStatuses, timestampKey } from '#run/status.ts';

/** Stamps `keys` at intervals of one second. */
const stamps = (...keys: string[]): Record<string, string> =>
  Object.fromEntries(keys.map((key, i) => [`${key}-at`, new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString()]));

const facts = (
  status: RunStatus,
  statusTimestamps: Record<string, string>,
  more: Partial<StageFacts> = {},
): StageFacts => ({
  status,
  confirmable: false,
  autoApply: false,
  planOnly: false,
  statusTimestamps,
  ...more,
});

const line = (facts: StageFacts): string =>
  stagesOf(facts)
    .map(({ name, state }) => `${name} ${state}`)
    .join(', ');

describe('stages', () => {
  it.each<[string, StageFacts, string]>([
    [
      'pending',
      facts('pending', stamps('plan-queueable')),
      'Pending current, Plan ahead, Confirmation ahead, Apply ahead',
    ],
    [
      'planning',
      facts('planning', stamps('plan-queueable', 'plan-queued', 'planning')),
      'Pending done, Plan current, Confirmation ahead, Apply ahead',
    ],
    [
      'waiting for confirmation',
      facts('planned', stamps('plan-queueable', 'plan-queued', 'planning', 'planned'), { confirmable: true }),
      'Pending done, Plan done, Confirmation current, Apply ahead',
    ],
    [
      'applied',
      facts(
        'applied',
        stamps(
          'plan-queueable',
          'plan-queued',
          'planning',
          'planned',
          'confirmed',
          'apply-queued',
          'applying',
          'applied',
        ),
      ),
      'Pending done, Plan done, Confirmation done, Apply done',
    ],
    [
      'applied automatically',
      facts('applied', stamps('plan-queueable', 'plan-queued', 'planning', 'planned', 'apply-queued', 'applied'), {
        autoApply: true,
      }),
      'Pending done, Plan done, Apply done',
    ],
    [
      'without changes',
      facts('planned_and_finished', stamps('plan-queueable', 'plan-queued', 'planned', 'planned-and-finished')),
      'Pending done, Plan done, Apply skipped',
    ],
    [
      'plan only',
      facts('planned_and_finished', stamps('plan-queueable', 'plan-queued', 'planned', 'planned-and-finished'), {
        planOnly: true,
      }),
      'Pending done, Plan done',
    ],
    [
      'failed in the plan',
      facts('errored', stamps('plan-queueable', 'plan-queued', 'planning', 'errored')),
      'Pending done, Plan failed, Apply skipped',
    ],
    [
      'failed in the apply',
      facts('errored', stamps('plan-queueable', 'plan-queued', 'planned', 'confirmed', 'apply-queued', 'errored')),
      'Pending done, Plan done, Confirmation done, Apply failed',
    ],
    [
      'discarded instead of confirmed',
      facts('discarded', stamps('plan-queueable', 'plan-queued', 'planned', 'discarded')),
      'Pending done, Plan done, Confirmation stopped, Apply skipped',
    ],
    [
      'canceled in the queue',
      facts('canceled', stamps('plan-queueable', 'canceled')),
      'Pending stopped, Plan skipped, Apply skipped',
    ],
    [
      'with checks',
      facts(
        'policy_checking',
        stamps('plan-queueable', 'plan-queued', 'planned', 'cost-estimating', 'cost-estimated', 'policy-checking'),
      ),
      'Pending done, Plan done, Cost estimate done, Policy check current, Confirmation ahead, Apply ahead',
    ],
  ])('%s', (_, facts, expected) => {
    expect(line(facts)).toBe(expected);
  });

  it('show their durations', () => {
    const at = stamps('plan-queueable', 'plan-queued', 'planning', 'planned', 'confirmed', 'apply-queued', 'applied');
    const took = stagesOf(facts('applied', at)).map(({ from, to }) => Date.parse(to ?? '') - Date.parse(from ?? ''));
    // The run waited for nothing between the confirmation and the apply, so that second belongs to no stage.
    expect(took).toEqual([1000, 2000, 1000, 1000]);
  });

  it('never include two current stages, nor a current one before a finished one', () => {
    const keys = runStatuses.map(timestampKey).concat('plan-queueable-at');
    fc.assert(
      fc.property(
        fc.constantFrom(...runStatuses),
        fc.subarray(keys),
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        (status, stamped, confirmable, autoApply, planOnly) => {
          const at = stamps(...stamped.map((key) => key.replace(/-at$/, '')));
          const states = stagesOf(facts(status, at, { confirmable, autoApply, planOnly })).map(({ state }) => state);
          expect(states.filter((state) => state === 'current').length).toBeLessThanOrEqual(1);
          const current = states.indexOf('current');
          if (current >= 0) expect(states.slice(current + 1).every((state) => state === 'ahead')).toBe(true);
        },
      ),
    );
  });
});
