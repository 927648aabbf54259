import { beforeAll, expect, it } from 'vitest';
import { coder, shortName, template as withProvider } from './support/coder-session.ts';
import { createEnvironment, environmentsApi, pushTemplate, untilBuilt } from './support/environments.ts';
import { attachPolicy } from './support/policies.ts';
import { attach, fails, newTask, passes } from './support/run-tasks.ts';
import { client, organization, type Resource } from './support/world.ts';

/** Policy sets, run tasks and cost estimates of a template apply to the builds of its environments. */

const main = `
variable "start_count" { default = 1 }
resource "terraform_data" "home" { input = "kept" }
resource "terraform_data" "compute" { count = var.start_count }
`;

const newTemplate = async (files: Record<string, string> = { 'main.tf': main }) => {
  const name = shortName('tpl');
  const { id } = await pushTemplate(name, files);
  const [workspace] = await client.list(`/organizations/${organization}/workspaces?search[name]=template-${name}`);
  return { id, workspace: workspace as Resource };
};

const outputOf = async (buildId: string): Promise<string> => {
  const entries = await environmentsApi('GET', `/workspacebuilds/${buildId}/logs`);
  return entries.map(({ log_level: level, output }: Record<string, string>) => `${level}: ${output}`).join('\n');
};

let template: Awaited<ReturnType<typeof newTemplate>>;
beforeAll(async () => {
  template = await newTemplate();
});

it('a build that fails a mandatory policy of its template is stopped, with the reason in its log', async () => {
  const { id } = await createEnvironment(template.id, shortName('dev'));
  const before = await untilBuilt(id);
  expect(before.job.status).toBe('succeeded');
  const set = await attachPolicy(template.workspace, 'mandatory', { rule: 'deny := ["no computers on Sundays"]' });
  await environmentsApi('POST', `/workspaces/${id}/builds`, { transition: 'stop' });
  const failed = await untilBuilt(id);
  expect(failed.job.status).toBe('failed');
  expect(failed.job.error).toMatch(/polic/i);
  expect(await outputOf(failed.id)).toMatch(/error: .*polic/i);
  // No resource was applied.
  expect(failed.resources.map(({ name }: { name: string }) => name).sort()).toEqual(['compute', 'home']);
  await client.call('DELETE', `/policy-sets/${set.id}`);
  await environmentsApi('POST', `/workspaces/${id}/builds`, { transition: 'stop' });
  expect((await untilBuilt(id)).job.status).toBe('succeeded');
});

it('run tasks of a template check its builds, and a failed mandatory one stops a build', async () => {
  const own = await newTemplate();
  const { server, task } = await newTask(passes);
  await attach(own.workspace, task, ['post_plan']);
  const { id, name } = await createEnvironment(own.id, shortName('dev'));
  expect((await untilBuilt(id)).job.status).toBe('succeeded');
  const { payload } = await server.request(2);
  expect(payload.workspace_name).toContain(name);
  const refusing = await newTask(fails);
  await attach(own.workspace, refusing.task, ['pre_plan']);
  await environmentsApi('POST', `/workspaces/${id}/builds`, { transition: 'stop' });
  const failed = await untilBuilt(id);
  expect(failed.job).toMatchObject({ status: 'failed', error: expect.stringContaining(refusing.task.attributes.name) });
});

it.skipIf(!coder)('an environment shows the daily cost of its resources, from the template', async () => {
  const priced = `${withProvider}
resource "coder_metadata" "compute" {
  count       = data.coder_workspace.me.start_count
  resource_id = terraform_data.compute[0].id
  daily_cost  = 7
}
`;
  const own = await newTemplate({ 'main.tf': priced });
  const rich_parameter_values = [
    { name: 'size', value: '1' },
    { name: 'region', value: 'eu' },
  ];
  const { id } = await createEnvironment(own.id, shortName('dev'), { rich_parameter_values });
  expect((await untilBuilt(id)).daily_cost).toBe(7);
  await environmentsApi('POST', `/workspaces/${id}/builds`, { transition: 'stop' });
  expect((await untilBuilt(id)).daily_cost).toBe(0);
  const path = `/organizations/${organization}/members/me/workspace-quota`;
  const { credits_consumed: spent } = await environmentsApi('GET', path);
  expect(spent).toBeGreaterThanOrEqual(0);
});
