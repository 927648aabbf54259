import { describe, expect, it } from 'vitest';
import { until } from './support/waiting.ts';
import {
  client,
  download,
  newWorkspace,
  type Resource,
  readLog,
  resources,
  startRun,
  untilFinal,
} from './support/world.ts';

/** Options of runs; those of `terraform plan` are in cli/plans.test.ts. */

const ab = { 'main.tf': resources(['a', 'b']) };
const addresses = ['terraform_data.a', 'terraform_data.b'];

/** A workspace in which these files were applied. */
const applied = async (files: Record<string, string> = ab): Promise<Resource> => {
  const workspace = await newWorkspace();
  const run = await untilFinal(await startRun(workspace, files, { 'auto-apply': true }));
  expect(run.attributes.status).toBe('applied');
  return workspace;
};

describe.concurrent('a run created with', () => {
  it('allow-empty-apply applies a plan without changes automatically', async () => {
    const workspace = await applied();
    const run = await untilFinal(await client.createRun(workspace.id, { 'allow-empty-apply': true }));
    expect(run.attributes).toMatchObject({ status: 'applied', 'has-changes': false });
    expect(await readLog(run, 'apply')).toContain('Resources: 0 added, 0 changed, 0 destroyed');
  });

  it('terraform-version plans with it, in a workspace that has another', async () => {
    const workspace = await newWorkspace({ 'terraform-version': '1.0.11' });
    const own = await untilFinal(await startRun(workspace, ab, { 'plan-only': true, 'terraform-version': '1.11.4' }));
    expect(own.attributes).toMatchObject({ status: 'planned_and_finished', 'terraform-version': '1.11.4' });
    expect(await readLog(own, 'plan')).toContain('Terraform v1.11.4');
    await expect(client.createRun(workspace.id, { 'terraform-version': '1.11.4' })).rejects.toMatchObject({
      status: 422,
    });
  });

  it('debugging-mode enables Terraform’s debug log', async () => {
    const workspace = await newWorkspace();
    const loud = await untilFinal(await startRun(workspace, ab, { 'plan-only': true, 'debugging-mode': true }));
    expect(loud.attributes.status).toBe('planned_and_finished');
    expect(await readLog(loud, 'plan')).toContain('[TRACE]');
  });
});

it('a run leaves its state as JSON, and its plan the schemas of the providers', async () => {
  const workspace = await applied();
  const state = await until(
    () => client.get(`/workspaces/${workspace.id}/current-state-version`),
    ({ attributes }) => attributes['hosted-json-state-download-url'] !== null,
  );
  const json = await download(state.attributes['hosted-json-state-download-url']);
  const resources = json.values.root_module.resources.map(({ address }: { address: string }) => address);
  expect(resources).toEqual(addresses);
  const run = state.relationships?.run?.data as { id: string };
  const schemas = await until(
    () => download(`/runs/${run.id}/plan/json-schema`),
    (answer) => answer !== undefined,
  );
  const [provider] = Object.values<{ resource_schemas: object }>(schemas.provider_schemas);
  expect(Object.keys(provider?.resource_schemas ?? {})).toContain('terraform_data');
});
