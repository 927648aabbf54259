import { expect, it } from 'vitest';
import { runActionNames, runActions } from '#run/actions.ts';
import type { Run } from '#run/run.ts';
import { runStatuses } from '#run/status.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

/** In every status, an action is accepted if and only if the run's document permits it. */

const api = await startApi();
const help = await runHelpers(api);
const { id } = await help.create((await help.ready()).id);
const run = (await help.store.getRun(id)) as Run;
const { taskStageId } = await import('#run/task-stages.ts');
const stage = taskStageId(id, 'post_plan');

const by = { by: 'user-decider', at: '2026-01-01T00:00:00.000Z' };
const cancel = (forceAvailableAt: string) => ({ ...by, forceAvailableAt });

/** Attributes other than the status that affect the permitted actions. */
const situations: Record<string, Partial<Run>> = {
  'it has no decision': {},
  'a user has confirmed it': { decision: { action: 'apply', ...by } },
  'a user has discarded it': { decision: { action: 'discard', ...by } },
  'a user has just canceled it': { cancel: cancel('2999-01-01T00:00:00.000Z') },
  'a user canceled it long ago': { cancel: cancel('2026-01-01T00:01:00.000Z') },
  'it may wait for a slot': { limited: true },
  'it has a slot': { limited: true, slot: 'plan' },
  'a user has overridden its policies': { overrides: { policyCheck: by, policyEvaluation: by } },
};

/** Sets the status as the machine would. */
const bring = async (change: Partial<Run>): Promise<void> => {
  const { keys } = await import('#platform/store/keys.ts');
  const { put } = await import('#platform/store/table.ts');
  const verdicts = { policyCheck: 'soft_failed', policyEvaluation: 'overridable' } as const;
  const checks = { policyCheck: true, policyEvaluation: true } as const;
  await put({ ...keys.run(run.id), ...run, checks, verdicts, overrides: {}, wait: undefined, ...change });
};

/** The documents that report actions, with the flag of each action. */
const reports: [document: string, flags: [action: string, flag: string][]][] = [
  [
    `runs/${run.id}`,
    runActionNames.flatMap((action): [string, string][] => {
      const { flag } = runActions[action];
      return flag ? [[action, flag]] : [];
    }),
  ],
  [`policy-checks/${run.id.replace('run-', 'polchk-')}`, [['override', 'is-overridable']]],
  [`task-stages/${stage}`, [['override', 'is-overridable']]],
];

it.each(Object.entries(situations))(
  'a run accepts exactly the actions that it reports when %s',
  async (_, situation) => {
    const reported: string[] = [];
    const accepted: string[] = [];
    for (const status of runStatuses) {
      for (const [document, flags] of reports) {
        await bring({ status, ...situation });
        const { actions } = (await api.get(document)).body.data.attributes;
        for (const [action, flag] of flags) {
          const path = `${document}/actions/${action}`;
          if (actions[flag]) reported.push(`${status} ${path}`);
          await bring({ status, ...situation });
          const answer = await api.call('POST', path);
          expect([status, path, [200, 202, 409].includes(answer.status)]).toEqual([status, path, true]);
          if (answer.status !== 409) accepted.push(`${status} ${path}`);
        }
      }
    }
    expect(accepted).toEqual(reported);
  },
);

it('a run that awaits a policy override can be discarded, but not canceled', async () => {
  for (const status of ['policy_override', 'post_plan_awaiting_decision'] as const) {
    await bring({ status });
    expect((await api.call('POST', `runs/${run.id}/actions/cancel`)).status).toBe(409);
    expect((await api.call('POST', `runs/${run.id}/actions/discard`)).status).toBe(202);
  }
});

it('runs can be filtered by discardable and final', async () => {
  for (const status of runStatuses) {
    await bring({ status });
    const { actions: may } = (await api.get(`runs/${run.id}`)).body.data.attributes;
    const isInGroup = async (group: string) => {
      const path = `workspaces/${run.workspaceId}/runs?filter[status_group]=${group}`;
      return (await api.get(path)).body.data.length === 1;
    };
    expect([status, await isInGroup('discardable')]).toEqual([status, may['is-discardable']]);
    expect([status, await isInGroup('final')]).toEqual([status, !(await isInGroup('non_final'))]);
  }
});
