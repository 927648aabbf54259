import { describe, expect, it } from 'vitest';
import type { Related } from '#resources/policies/set-records.ts';
import { startAws } from '#test/support/aws.ts';

const aws = await startAws();
const store = {
  ...(await import('#resources/policies/set-records.ts')),
  ...(await import('#resources/variables/set-records.ts')),
  ...(await import('#resources/run-tasks/records.ts')),
  ...(await import('#resources/run-tasks/workspace-tasks.ts')),
};

let n = 0;
const unique = (prefix: string) => `${prefix}-${String(++n).padStart(16, '0')}`;
const home = () => ({ id: unique('ws'), organization: unique('org'), projectId: unique('prj') });
const create = async (organization: string, global = false) => {
  const set = await store.createPolicySet({
    organization,
    name: unique('set'),
    kind: 'opa',
    description: null,
    global,
    overridable: false,
    policyToolVersion: null,
    policiesPath: null,
  });
  if (!set) throw new Error('the name is taken');
  return set;
};
const applying = async (workspace: ReturnType<typeof home>) =>
  (await store.policySetsOf(workspace)).map(({ id }) => id);

describe('the policy sets of a workspace', () => {
  it('are read with the variable sets and run tasks, in one query for each scope', async () => {
    const workspace = home();
    const before = aws.calls;
    const [sets] = await Promise.all([
      store.policySetsOf(workspace),
      store.effectiveVariableSets(workspace),
      store.listGlobalTasks(workspace.organization),
      store.listWorkspaceTasks(workspace.id),
    ]);
    expect(sets).toEqual([]);
    expect(aws.calls - before).toBe(3);
  });

  /** Whether a set with these relations to the workspace and its project applies. */
  it.each<[boolean, Related[], boolean]>([
    [false, [], false],
    [true, [], true],
    [false, ['workspaceIds'], true],
    [false, ['projectIds'], true],
    [true, ['workspaceExclusionIds'], false],
    [true, ['projectExclusionIds'], false],
    [false, ['projectIds', 'workspaceExclusionIds'], false],
    [false, ['workspaceIds', 'workspaceExclusionIds'], false],
    [true, ['projectExclusionIds', 'workspaceIds'], true],
    [false, ['projectIds', 'projectExclusionIds'], false],
  ])('global: %s, %j: %s', async (global, relations, applies) => {
    const [workspace, other] = [home(), home()];
    const set = await create(workspace.organization, global);
    for (const relation of relations) {
      const thing = relation.startsWith('workspace') ? workspace.id : workspace.projectId;
      await store.relate(set, relation, [thing, unique('x')]);
    }
    expect(await applying(workspace)).toEqual(applies ? [set.id] : []);
    const neighbour = { ...home(), organization: workspace.organization };
    expect(await applying(neighbour)).toEqual(global ? [set.id] : []);
    expect(await applying(other)).toEqual([]);
  });

  it('change when a set is related or unrelated, becomes global or is deleted', async () => {
    const workspace = home();
    const set = await create(workspace.organization);
    for (let i = 0; i < 2; i++) {
      await store.relate(set, 'workspaceIds', [workspace.id]);
      expect(await applying(workspace)).toEqual([set.id]);
      await store.unrelate(set, 'workspaceIds', [workspace.id]);
      expect(await applying(workspace)).toEqual([]);
    }
    await store.updatePolicySet(set, { global: true }, { userId: 'user-a' });
    expect(await applying(workspace)).toEqual([set.id]);
    await store.updatePolicySet(set, { global: false }, { userId: 'user-a' });
    expect(await applying(workspace)).toEqual([]);
    await store.updatePolicySet(set, { global: true }, { userId: 'user-a' });
    await store.deletePolicySet(set);
    expect(await applying(workspace)).toEqual([]);
  });

  it('never belong to another organization', async () => {
    const [workspace, elsewhere] = [home(), home()];
    const set = await create(elsewhere.organization);
    await store.relate(set, 'workspaceIds', [workspace.id]);
    expect(await applying(workspace)).toEqual([]);
  });

  it.each([1, 2])('are complete even if call %i of relating the set was lost', async (call) => {
    const workspace = home();
    const set = await create(workspace.organization);
    aws.failCall(call, 'after');
    await store.relate(set, 'workspaceIds', [workspace.id]).catch(() => undefined);
    const says = (await store.getPolicySet(set.id))?.workspaceIds?.has(workspace.id) ?? false;
    expect(await applying(workspace)).toEqual(says ? [set.id] : []);
    await store.relate(set, 'workspaceIds', [workspace.id]);
    expect(await applying(workspace)).toEqual([set.id]);
  });
});

describe('names', () => {
  it('belong to one set, and are released when its creation fails', async () => {
    const { organization } = home();
    const first = await create(organization);
    const same = { ...first, name: first.name };
    expect(await store.createPolicySet(same)).toBeUndefined();
    aws.failCall(2, 'before');
    const name = unique('cut-off');
    await expect(store.createPolicySet({ ...first, name })).rejects.toThrow();
    expect((await store.createPolicySet({ ...first, name }))?.name).toBe(name);
  });
});
