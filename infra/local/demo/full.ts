import { readFile } from 'node:fs/promises';
import type { Client, Resource } from '#clients/client/client.ts';
import { dollars } from '#clients/client/text/money.ts';
import type { Local } from '#infra/local/host/folder.ts';
import { packExample } from './basics.ts';
import { bold, dim, section } from './print.ts';
import { showCost, showOutputs } from './summary.ts';
import { startTask } from './task-server.ts';
import { watchRun } from './watch.ts';

/** Every stage of a run: run tasks with callbacks, a cost estimate, and a policy that a user overrides. */

const hmacKey = 'a key the platform and the run task share';

const addTask = async (client: Client, organization: string, workspaceId: string, url: string): Promise<void> => {
  const task = await client.create(`/organizations/${organization}/tasks`, 'tasks', {
    name: 'security-scan',
    url,
    category: 'task',
    'hmac-key': hmacKey,
  });
  await client.create(
    `/workspaces/${workspaceId}/tasks`,
    'workspace-tasks',
    { 'enforcement-level': 'mandatory', stages: ['pre_plan', 'post_plan', 'pre_apply', 'post_apply'] },
    { task: { data: { type: 'tasks', id: task.id } } },
  );
};

const addPolicy = async (client: Client, { organization, url, token }: Local, workspaceId: string): Promise<void> => {
  const policy = await client.create(`/organizations/${organization}/policies`, 'policies', {
    name: 'few-replicas',
    kind: 'sentinel',
    'enforcement-level': 'soft-mandatory',
    query: 'data.terraform.deny',
  });
  const uploaded = await fetch(`${url}/api/v2/policies/${policy.id}/upload`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
    body: await readFile(new URL('policies/few-replicas.rego', import.meta.url)),
  });
  if (!uploaded.ok) throw new Error(`the policy was rejected: ${uploaded.status} ${await uploaded.text()}`);
  await client.create(
    `/organizations/${organization}/policy-sets`,
    'policy-sets',
    { name: 'production', kind: 'sentinel' },
    {
      policies: { data: [{ type: 'policies', id: policy.id }] },
      workspaces: { data: [{ type: 'workspaces', id: workspaceId }] },
    },
  );
};

const showEstimate = async (client: Client, run: Resource): Promise<void> => {
  const related = run.relationships?.['cost-estimate']?.data as { id: string } | null | undefined;
  if (!related) return;
  const { attributes } = await client.get(`/cost-estimates/${related.id}`);
  console.log(
    `estimate: ${dollars(attributes['prior-monthly-cost'])} → ${bold(dollars(attributes['proposed-monthly-cost']))} a month · ` +
      `${attributes['matched-resources-count']} of ${attributes['resources-count']} resources have a price ` +
      dim('(Terraform’s built-in provider costs nothing)'),
  );
};

export const showEverything = async (client: Client, local: Local, attended: boolean): Promise<void> => {
  const { organization } = local;
  section('Run tasks, an estimate, a policy and its override');
  await client.call('PATCH', `/organizations/${organization}`, {
    data: { type: 'organizations', attributes: { 'cost-estimation-enabled': true } },
  });
  const workspace = await client.createWorkspace(organization, 'production');
  await client.setVariable(workspace.id, { key: 'database_password', value: 'battery staple', sensitive: true });
  await client.setVariable(workspace.id, { key: 'environment', value: 'production' });
  const task = await startTask(hmacKey, (line) =>
    console.log(`          ${dim('⇄')} run task ${bold('security-scan')} ${line}`),
  );
  try {
    await addTask(client, organization, workspace.id, task.url);
    await addPolicy(client, local, workspace.id);
    const version = await client.upload(workspace.id, await packExample());
    console.log(
      `workspace ${bold(`${organization}/production`)} · run task security-scan (mandatory) in all four stages · policy few-replicas (soft-mandatory)`,
    );
    const created = await client.createRun(workspace.id, { message: 'To production' }, version.id);
    const run = await watchRun(client, created, attended);
    if (run.attributes.status === 'discarded') return;
    if (run.attributes.status !== 'applied') throw new Error(`the run ended ${run.attributes.status}`);
    await showEstimate(client, run);
    await showOutputs(client, workspace.id);
    await showCost(local, run.id);
  } finally {
    await task.close();
  }
};
