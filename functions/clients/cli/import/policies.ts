import { type Resource, relatedIds } from '#clients/client/client.ts';
import { policySetAttributes } from '#resources/policies/set-attributes.ts';
import { copiedFrom, type Import, mapped, named, nameOf, pick } from './context.ts';
import { applies } from './needs.ts';
import { part } from './source.ts';
import { isPlaceholder } from './target.ts';
import { copyParameters } from './variables.ts';
import { idsOfWorkspaces } from './workspaces.ts';

/** Policies with their content, and policy sets. */

const maxPolicyBytes = 4 * 1024 * 1024;

const contentHere = async ({ target }: Import, policy: Resource | undefined): Promise<string | undefined> => {
  if (!policy || isPlaceholder(policy)) return undefined;
  return target.client
    .content(`/policies/${policy.id}/download`)
    .then((response) => response.text())
    .catch(() => undefined);
};

const copyPolicy = async (work: Import, policy: Resource, existing: Resource | undefined): Promise<Resource> => {
  const { source, target, journal, into } = work;
  const item = `policy ${nameOf(policy)}`;
  const copy = await target.sync({
    ...{ item, type: 'policies', existing, path: `/organizations/${into}/policies` },
    attributes: pick(policy.attributes, 'name description query enforcement-level'),
    initial: pick(policy.attributes, 'kind'),
  });
  const content = (await source.bytes(`/api/v2/policies/${part(policy.id)}/download`, maxPolicyBytes)).toString('utf8');
  if ((await contentHere(work, existing)) === content) return copy;
  if (!target.isDry) await target.client.put(`/policies/${copy.id}/upload`, content);
  if (existing) journal.note(item, 'changed', 'content');
  return copy;
};

const copySet = async (work: Import, set: Resource, existing: Resource | undefined): Promise<void> => {
  const { target, journal, into, policies, projects } = work;
  const item = `policy set ${nameOf(set)}`;
  if (set.attributes['vcs-repo'] || set.attributes.versioned === true) {
    if (!existing)
      journal.note(
        item,
        'todo',
        'not copied, because its policies come from a repository or an upload. Connect or upload it again',
      );
    return;
  }
  const copy = await target.sync({
    ...{ item, type: 'policy-sets', existing, path: `/organizations/${into}/policy-sets` },
    attributes: copiedFrom(set.attributes, policySetAttributes),
    initial: pick(set.attributes, 'kind'),
  });
  const lists: [string, string, string[]][] = [
    ['policies', 'policies', mapped(relatedIds(set, 'policies'), policies)],
    ['workspaces', 'workspaces', idsOfWorkspaces(set, 'workspaces', work)],
    ['projects', 'projects', mapped(relatedIds(set, 'projects'), projects)],
    ['workspace-exclusions', 'workspaces', idsOfWorkspaces(set, 'workspace-exclusions', work)],
  ];
  for (const [relation, type, ids] of lists) {
    const present = existing ? relatedIds(existing, relation) : [];
    await target.add(item, `/policy-sets/${copy.id}/relationships/${relation}`, type, present, ids);
  }
  const parameters = (id: string) => `/policy-sets/${id}/parameters`;
  await copyParameters(work, nameOf(set), parameters(part(set.id)), parameters(copy.id));
};

export const copyPolicies = async (work: Import): Promise<void> => {
  const { source, target, journal, from, into, policies } = work;
  const originals = (await source.allIfAny(`/organizations/${from}/policy-sets`)).filter((set) => applies(work, set));
  const used = new Set(originals.flatMap((set) => relatedIds(set, 'policies')));
  const existingPolicies = await target.all(`/organizations/${into}/policies`);
  for (const policy of await source.allIfAny(`/organizations/${from}/policies`)) {
    if (work.needs && !used.has(policy.id)) continue;
    const copy = await journal.attempt(`policy ${nameOf(policy)}`, () =>
      copyPolicy(work, policy, named(existingPolicies, nameOf(policy))),
    );
    if (copy) policies.set(policy.id, copy);
  }
  const sets = await target.all(`/organizations/${into}/policy-sets`);
  for (const set of originals) {
    await journal.attempt(`policy set ${nameOf(set)}`, () => copySet(work, set, named(sets, nameOf(set))));
  }
};
