import { expect, it } from 'vitest';
import { configuration, invocations, nameOf, runBudget, unitsOf } from '#test/bench/budget.ts';
import { usageOf } from '#test/bench/figures.ts';
import { client, newWorkspace, platform, startRun, untilFinal } from './support/world.ts';

/**
 * Budget of a small auto-applied run by function call: an increase must be deliberate. Calls that are repeated because
 * a machine is busy are budgeted separately.
 */
const most: Record<string, number> = {
  // Half a unit is for the client's Idempotency-Key (decisions/0163), 3 for the run's turn (decisions/0198), 1 for the
  // drain (decisions/0228); 2 are spare.
  'Runs POST /api/v2/runs': 22,
  PlanQueued: 3.5,
  // The claim of the apply, whose item is larger.
  'Runner POST /runner/v1/claim': 5.5,
  'Runner POST /runner/v1/report': 5.5,
  EnterState: 3.5,
  // 2 move the workspace in the index of latest changes (decisions/0280).
  'Runner POST /runner/v1/state-versions': 8,
  Complete: 10,
};

/** Their number depends on the amount of output and the duration. */
const byTime = /\/runner\/v1\/(log|heartbeat)/;

it.skipIf(!platform.awsEndpointUrl)('a small auto-applied run uses no more than its budget', async () => {
  const workspace = await newWorkspace({ 'auto-apply': true });
  const { id } = await untilFinal(await startRun(workspace, { 'main.tf': configuration }));
  expect((await client.run(id)).attributes.status).toBe('applied');
  const { steps, totals } = await usageOf(platform as Parameters<typeof usageOf>[0], id);
  expect(totals.transitions).toBe(runBudget.transitions);
  const used = invocations(steps).map((one) => ({
    name: nameOf(one),
    units: one.map(unitsOf).reduce((sum, units) => sum + units, 0),
  }));
  // Requests of the test itself.
  const own = used.filter(({ name }) => !name.includes(' GET ') && !byTime.test(name));
  expect([...new Set(own.map(({ name }) => name))].sort()).toEqual(Object.keys(most).sort());
  expect(own.filter(({ name, units }) => units > (most[name] ?? 0))).toEqual([]);
  expect(own.reduce((sum, { units }) => sum + units, 0)).toBeLessThanOrEqual(runBudget.requestUnits);
});
