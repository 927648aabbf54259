import { expect, it } from 'vitest';
import { until } from './support/waiting.ts';
import { client, download, newWorkspace, readLog, resources, startRun, untilFinal } from './support/world.ts';

/** Options of runs; those of `terraform plan` are in cli/plans.test.ts. */

const ab = { 'main.tf': resources(['a', 'b']) };
const addresses = ['terraform_data.a', 'terraform_data.b'];

it('a run leaves its state as JSON, and its plan the schemas; one with allow-empty-apply applies no changes', async () => {
  const workspace = await newWorkspace();
  const run = await untilFinal(await startRun(workspace, ab, { 'auto-apply': true }));
  expect(run.attributes.status).toBe('applied');
  const state = await until(
    () => client.get(`/workspaces/${workspace.id}/current-state-version`),
    ({ attributes }) => attributes['hosted-json-state-download-url'] !== null,
  );
  const json = await download(state.attributes['hosted-json-state-download-url']);
  const resources = json.values.root_module.resources.map(({ address }: { address: string }) => address);
  expect(resources).toEqual(addresses);
  const schemas = await until(
    () => download(`/runs/${run.id}/plan/json-schema`),
    (answer) => answer !== undefined,
  );
  const [provider] = Object.values<{ resource_schemas: object }>(schemas.provider_schemas);
  expect(Object.keys(provider?.resource_schemas ?? {})).toContain('terraform_data');

  const empty = await untilFinal(await client.createRun(workspace.id, { 'allow-empty-apply': true }));
  expect(empty.attributes).toMatchObject({ status: 'applied', 'has-changes': false });
  expect(await readLog(empty, 'apply')).toContain('Resources: 0 added, 0 changed, 0 destroyed');
});

it('a run plans with its own Terraform version and debug log, in a workspace that has others', async () => {
  const workspace = await newWorkspace({ 'terraform-version': '1.0.11' });
  const options = { 'plan-only': true, 'terraform-version': '1.11.4', 'debugging-mode': true };
  const own = await untilFinal(await startRun(workspace, ab, options));
  expect(own.attributes).toMatchObject({ status: 'planned_and_finished', 'terraform-version': '1.11.4' });
  const log = await readLog(own, 'plan');
  expect(log).toContain('Terraform v1.11.4');
  expect(log).toContain('[TRACE]');
  await expect(client.createRun(workspace.id, { 'terraform-version': '1.11.4' })).rejects.toMatchObject({
    status: 422,
  });
});
