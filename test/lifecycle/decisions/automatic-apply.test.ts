import { expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

let recheck: typeof import('#lifecycle/decisions/automatic-apply.ts').recheckAutomaticApply;
const api = await startApi();
const help = await runHelpers(api);
({ recheckAutomaticApply: recheck } = await import('#lifecycle/decisions/automatic-apply.ts'));

const isWithdrawn = async (change: Partial<Run>): Promise<boolean> => {
  const { id } = await help.create((await help.ready()).id, { 'auto-apply': true });
  await help.bring(id, {
    status: 'planning',
    current: true,
    'plan.report': { outcome: 'finished', hasChanges: true },
    ...change,
  });
  const { autoApply } = await recheck((await help.store.getRun(id)) as Run);
  const events = (await api.get(`runs/${id}/run-events`)).body.data;
  const withdrawals = events.filter(
    ({ attributes }: { attributes: { action: string } }) => attributes.action === 'auto_apply_withdrawn',
  );
  expect([autoApply, (await help.store.getRun(id))?.autoApply]).toEqual([!withdrawals.length, !withdrawals.length]);
  return withdrawals.length === 1;
};

it('the automatic apply of a run is withdrawn when one of its authors loses the permission to apply, unless the run is already decided', async () => {
  const [author, planner] = [await help.user('write'), await help.user('plan')];
  const byUser = { action: 'apply', by: author.id, at: '' } as const;
  expect(await isWithdrawn({ appliesFor: [author.id] })).toBe(false);
  expect(await isWithdrawn({ appliesFor: [author.id, planner.id] }), 'an author with plan permission only').toBe(true);
  expect(await isWithdrawn({ appliesFor: [] }), 'of a commit').toBe(false);
  expect(await isWithdrawn({ appliesFor: [planner.id], decision: byUser }), 'confirmed').toBe(false);
  expect(await isWithdrawn({ appliesFor: [planner.id], status: 'apply_queued' }), 'about to be applied').toBe(false);
});

it('an override does not let a run of an author without permission continue to its apply', async () => {
  const { id } = await help.create((await help.ready()).id, { 'auto-apply': true });
  await help.bring(id, {
    status: 'policy_override',
    appliesFor: [(await help.user('plan')).id],
    'plan.report': { outcome: 'finished', hasChanges: true },
    checks: { policyCheck: true },
    verdicts: { policyCheck: 'soft_failed' },
    overrides: {},
  });
  expect((await api.call('POST', `policy-checks/${id.replace('run-', 'polchk-')}/actions/override`)).status).toBe(200);
  expect(await help.store.getRun(id)).toMatchObject({ overrides: { policyCheck: {} }, autoApply: false });
});

it('the authors of a run are its creator and the uploader of its configuration, unless others authorized them before', async () => {
  const { authorsOf } = await import('#lifecycle/decisions/automatic-apply.ts');
  const { versionControl } = await import('#run/run.ts');
  const by = (createdBy: string) => ({ createdBy });
  const trigger = {} as NonNullable<Run['trigger']>;
  expect(authorsOf('user-1', by('user-2'), undefined)).toEqual(['user-1', 'user-2']);
  expect(authorsOf('user-1', by('user-1'), undefined)).toEqual(['user-1']);
  expect(authorsOf('user-1', by('user-2'), trigger), 'of a run trigger').toEqual(['user-2']);
  expect(authorsOf(versionControl, by(versionControl), undefined), 'of a commit').toEqual([]);
});
