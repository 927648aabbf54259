import { describe, expect, it } from 'vitest';
import { attachPolicy, policyCheck, policyEvaluation } from './support/policies.ts';
import {
  client,
  newWorkspace,
  reasonOf,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
  untilStatus,
} from './support/world.ts';

const files = { 'main.tf': resources(['a']) };
const named = (rule: string) => ({
  rule: `deny contains msg if {\n  some r in input.plan.resource_changes\n  ${rule}\n  msg := r.address\n}`,
});

describe.concurrent('a policy check', () => {
  it('that passes lets the run continue, with status policy checked', async () => {
    const workspace = await newWorkspace();
    await attachPolicy(workspace, 'hard-mandatory', named('r.type == "aws_instance"'));
    const run = await untilConfirmable(await startRun(workspace, files));
    expect([run.attributes.status, reasonOf(run)]).toEqual(['policy_checked', '']);
    expect((await policyCheck(run)).attributes).toMatchObject({ status: 'passed', result: { passed: 1 } });
    await client.act(run.id, 'apply');
    expect((await untilFinal(run)).attributes.status).toBe('applied');
  });

  it('that fails hard ends the run and names the policy', async () => {
    const workspace = await newWorkspace({ 'auto-apply': true });
    await attachPolicy(workspace, 'hard-mandatory', named('r.type == "terraform_data"'));
    const run = await untilFinal(await startRun(workspace, files));
    expect([run.attributes.status, reasonOf(run)]).toEqual([
      'errored',
      expect.stringMatching(/^Policy "sizes" of set "[\w-]+" failed\./),
    ]);
    expect((await policyCheck(run)).attributes.status).toBe('hard_failed');
    expect((await client.get(`/workspaces/${workspace.id}`)).attributes.locked).toBe(false);
  });

  it('that fails softly waits for an override, then auto-applies if the workspace does', async () => {
    const workspace = await newWorkspace({ 'auto-apply': true });
    await attachPolicy(workspace, 'soft-mandatory');
    const run = await untilStatus(await startRun(workspace, files), 'policy_override');
    expect(run.attributes.actions).toMatchObject({ 'is-confirmable': false, 'is-discardable': true });
    const check = await policyCheck(run);
    expect(check.attributes).toMatchObject({ status: 'soft_failed', actions: { 'is-overridable': true } });
    await client.call('POST', `/policy-checks/${check.id}/actions/override`, { comment: 'this once' });
    expect((await untilFinal(run)).attributes.status).toBe('applied');
    expect((await policyCheck(run)).attributes).toMatchObject({
      status: 'overridden',
      override: { comment: 'this once' },
    });
  });
});

describe.concurrent('a policy evaluation', () => {
  it('that fails waits for an override if allowed, and then for a confirmation', async () => {
    const workspace = await newWorkspace();
    await attachPolicy(workspace, 'mandatory', { overridable: true });
    const run = await untilStatus(await startRun(workspace, files), 'post_plan_awaiting_decision');
    const [stage] = await client.call<{ id: string }[]>('GET', `/runs/${run.id}/task-stages`).then(({ data }) => data);
    expect((await client.get(`/task-stages/${stage?.id}`)).attributes.status).toBe('awaiting_override');
    expect((await policyEvaluation(run)).attributes.status).toBe('failed');
    await client.call('POST', `/task-stages/${stage?.id}/actions/override`, {});
    const resting = await untilConfirmable(run);
    expect(resting.attributes.status).toBe('post_plan_completed');
    expect((await client.get(`/task-stages/${stage?.id}`)).attributes.status).toBe('passed');
    expect((await policyEvaluation(run)).attributes.status).toBe('overridden');
    await client.act(run.id, 'apply');
    expect((await untilFinal(run)).attributes.status).toBe('applied');
  });
});
