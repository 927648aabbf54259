import { join } from 'node:path';
import { inject } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import type { stateFile } from '#test/support/state.ts';
import { Client, followLog, isFinalRun, type Resource, reportOutputOf, until } from './waiting.ts';

export type { Resource };

export const platform = inject('platform');
export const client = new Client(platform.url, platform.token);
export const { organization } = platform;
if (platform.dataDir) reportOutputOf(platform.url, join(platform.dataDir, 'output.txt'));

let names = 0;
/** A unique name. */
export const newName = (prefix = 'ws'): string => `${prefix}-${process.pid}-${Date.now().toString(36)}-${++names}`;

export const newWorkspace = (attributes: Record<string, unknown> = {}): Promise<Resource> =>
  client.createWorkspace(organization, newName(), attributes);

/** Gives the team access to the workspace: `read`, `plan`, `write` or `admin`. */
export const giveAccess = (team: { id: string }, workspace: Resource, access: string): Promise<Resource> =>
  client.create(
    '/team-workspaces',
    'team-workspaces',
    { access },
    {
      team: { data: { type: 'teams', id: team.id } },
      workspace: { data: { type: 'workspaces', id: workspace.id } },
    },
  );

/** Gives the workspace a state, as `terraform state push` does. */
export const pushState = async ({ id }: Resource, { text, ...announced }: ReturnType<typeof stateFile>) => {
  const attributes = { ...announced, state: Buffer.from(text).toString('base64') };
  await client.call('POST', `/workspaces/${id}/actions/lock`, {});
  await client.create(`/workspaces/${id}/state-versions`, 'state-versions', attributes);
  await client.call('POST', `/workspaces/${id}/actions/unlock`);
};

/** Uploads files and creates a run with them. */
export const startRun = async (
  workspace: Resource,
  files: Record<string, string>,
  attributes: Record<string, unknown> = {},
): Promise<Resource> => {
  const version = await client.upload(workspace.id, await packFiles(files));
  return client.createRun(workspace.id, attributes, version.id);
};

export const untilConfirmable = (run: Resource): Promise<Resource> =>
  client.waitForRun(run.id, (now) => now.attributes.actions['is-confirmable'] || isFinalRun(now));

export const untilFinal = (run: Resource): Promise<Resource> => client.waitForRun(run.id, isFinalRun);

export const untilStatus = (run: Resource, ...statuses: string[]): Promise<Resource> =>
  client.waitForRun(run.id, (now) => statuses.includes(now.attributes.status) || isFinalRun(now));

export const readLog = async (run: Resource, phase: 'plan' | 'apply'): Promise<string> => {
  const url = (await client.phase(run, phase)).attributes['log-read-url'];
  let text = '';
  for await (const more of followLog(url, async () => isFinalRun(await client.run(run.id)))) text += more;
  return text;
};

/** JSON behind a redirect of an API path; undefined while there is none. */
// biome-ignore lint/suspicious/noExplicitAny: documents of Terraform's, looked into at any depth
export const download = async (path: string): Promise<any> => {
  const headers = { authorization: `Bearer ${platform.token}` };
  const response = await fetch(path.startsWith('http') ? path : `${platform.url}/api/v2${path}`, { headers });
  if (response.status === 204) return undefined;
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
};

/** The plan in Terraform's JSON format. */
export const planJson = (run: Resource) => download(`/runs/${run.id}/plan/json-output`);

/** Addresses of the resources in the workspace's state. */
export const inState = async (workspace: Resource): Promise<string[]> => {
  const { attributes } = await client.get(`/workspaces/${workspace.id}/current-state-version`);
  return attributes.resources.map(({ type, name }: { type: string; name: string }) => `${type}.${name}`).sort();
};

/** Waits until an ended run has unlocked its workspace, shortly after its end. */
export const untilUnlocked = ({ id }: Resource): Promise<Resource> =>
  until(
    () => client.get(`/workspaces/${id}`),
    ({ attributes }) => !attributes.locked,
  );

/** The platform's reason for the run's end. */
export const reasonOf = (run: Resource): string => String(run.attributes['end-reason'] ?? '');

/** One resource per name; `wait` seconds each at creation. */
export const resources = (names: string[], wait = 0): string =>
  names
    .map(
      (name) => `resource "terraform_data" "${name}" {
  input = "${name}"
${wait ? `  provisioner "local-exec" {\n    command = "sleep ${wait}"\n  }\n` : ''}}`,
    )
    .join('\n');
