import { Client } from '#clients/client/client.ts';
import { client, newName, organization, platform, type Resource } from '#test/e2e/support/world.ts';
import type { stateFile } from '#test/support/state.ts';

/** Attackers with limited access: tokens with few permissions, and URLs that they received once. */

export interface Outsider {
  client: Client;
  token: string;
}

/** A team token with the given access to the workspace, and no other permission. */
export const outsiderWith = async (workspace: Resource, access: 'read' | 'plan' | 'write'): Promise<Outsider> => {
  const team = await client.create(`/organizations/${organization}/teams`, 'teams', { name: newName('team') });
  await client.create(
    '/team-workspaces',
    'team-workspaces',
    { access },
    {
      team: { data: { type: 'teams', id: team.id } },
      workspace: { data: { type: 'workspaces', id: workspace.id } },
    },
  );
  const { attributes } = await client.create(`/teams/${team.id}/authentication-token`, 'authentication-tokens', {});
  return { client: new Client(platform.url, attributes.token), token: attributes.token };
};

export const put = async (url: string, body: string | Uint8Array, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, { method: 'PUT', body: body as BodyInit, headers });
  await answer.arrayBuffer();
  return answer.status;
};

export const lock = (by: Client, workspace: Resource) =>
  by.call('POST', `/workspaces/${workspace.id}/actions/lock`, { reason: 'attack' });

/** A state version that is announced and not yet uploaded. */
export const announce = (by: Client, workspace: Resource, { serial, lineage, md5 }: ReturnType<typeof stateFile>) =>
  by.create(`/workspaces/${workspace.id}/state-versions`, 'state-versions', { serial, lineage, md5 });

export const stateUrl = (version: Resource): string | null => version.attributes['hosted-state-upload-url'];
export const jsonUrl = (version: Resource): string | null => version.attributes['hosted-json-state-upload-url'];

/** Every presigned URL anywhere in a document. */
export const capabilitiesIn = (document: unknown): string[] =>
  [...JSON.stringify(document).matchAll(/https?:[^"]*X-Amz-Signature[^"]*/g)].map(([url]) => url);

/** Seconds. */
export const lifeOf = (url: string): number => Number(new URL(url).searchParams.get('X-Amz-Expires'));

export const download = async (by: Outsider | { token: string }, path: string): Promise<string> => {
  const headers = { authorization: `Bearer ${by.token}` };
  const answer = await fetch(`${platform.url}/api/v2${path}`, { headers });
  return answer.ok ? answer.text() : `${answer.status}`;
};
