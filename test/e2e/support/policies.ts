import { archive, policyFiles } from '#test/support/policies.ts';
import { client, newName, organization, type Resource } from './world.ts';

/** Attaches a policy set of one policy to the workspace; by default it fails with "too large". */
export const attachPolicy = async (
  workspace: Resource,
  level: 'advisory' | 'mandatory' | 'soft-mandatory' | 'hard-mandatory',
  { kind = 'opa', rule = 'deny := ["too large"]', ...attributes }: Record<string, unknown> = {},
): Promise<Resource> => {
  const set = await client.create(
    `/organizations/${organization}/policy-sets`,
    'policy-sets',
    { name: newName('set'), kind: level.includes('-') ? 'sentinel' : kind, ...attributes },
    { workspaces: { data: [{ type: 'workspaces', id: workspace.id }] } },
  );
  await uploadPolicy(set, policyFiles(String(rule), level));
  return set;
};

/** Uploads to the given link, like clients, and waits. */
const uploadPolicy = async (set: Resource, files: Record<string, string>): Promise<Resource> => {
  const version = await client.create(`/policy-sets/${set.id}/versions`, 'policy-set-versions', {});
  const body = new Uint8Array(await archive(files));
  const { status } = await fetch(String(version.links?.upload), { method: 'PUT', body });
  if (status !== 200) throw new Error(`upload: HTTP ${status}`);
  const read = await client.get(`/policy-set-versions/${version.id}`);
  if (read.attributes.status !== 'ready') throw new Error(JSON.stringify(read.attributes));
  return read;
};
