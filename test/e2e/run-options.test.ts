import { describe, expect, it } from 'vitest';
import { until } from './support/waiting.ts';
import {
  client,
  download,
  inState,
  newWorkspace,
  planJson,
  type Resource,
  readLog,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
} from './support/world.ts';

/** Every run option that affects Terraform, with the real one. */

const ab = { 'main.tf': resources(['a', 'b']) };
const addresses = ['terraform_data.a', 'terraform_data.b'];

/** A workspace in which these files were applied. */
const applied = async (files: Record<string, string> = ab): Promise<Resource> => {
  const workspace = await newWorkspace();
  const run = await untilFinal(await startRun(workspace, files, { 'auto-apply': true }));
  expect(run.attributes.status).toBe('applied');
  return workspace;
};
const plan = (run: Resource) => client.phase(run, 'plan');
const actionsOf = async (run: Resource) =>
  Object.fromEntries(
    (await planJson(run)).resource_changes.map((one: { address: string; change: { actions: string[] } }) => [
      one.address,
      one.change.actions.join(' '),
    ]),
  );

describe.concurrent('a run created with', () => {
  it('is-destroy shows and then destroys everything', async () => {
    const workspace = await applied();
    const run = await untilConfirmable(await client.createRun(workspace.id, { 'is-destroy': true }));
    expect(run.attributes).toMatchObject({ status: 'planned', 'is-destroy': true, 'has-changes': true });
    expect(await actionsOf(run)).toEqual({ 'terraform_data.a': 'delete', 'terraform_data.b': 'delete' });
    await client.act(run.id, 'apply');
    expect((await untilFinal(run)).attributes.status).toBe('applied');
    expect(await inState(workspace)).toEqual([]);
  });

  it('refresh: false does not refresh the state; others do', async () => {
    const workspace = await applied();
    const options = { 'plan-only': true };
    const [quick, usual] = await Promise.all([
      client.createRun(workspace.id, { ...options, refresh: false }).then(untilFinal),
      client.createRun(workspace.id, options).then(untilFinal),
    ]);
    expect([quick, usual].map(({ attributes }) => attributes.status)).toEqual(Array(2).fill('planned_and_finished'));
    expect(await readLog(quick, 'plan')).not.toContain('Refreshing state');
    expect(await readLog(usual, 'plan')).toContain('Refreshing state');
  });

  it('refresh-only changes only the state', async () => {
    const workspace = await applied();
    const more = { 'main.tf': `${resources(['a', 'b', 'c'])}\noutput "a" { value = terraform_data.a.output }` };
    const run = await untilConfirmable(await startRun(workspace, more, { 'refresh-only': true }));
    expect(run.attributes).toMatchObject({ status: 'planned', 'refresh-only': true });
    await client.act(run.id, 'apply');
    expect((await untilFinal(run)).attributes.status).toBe('applied');
    expect(await inState(workspace)).toEqual(addresses);
    const outputs = await client.list(`/workspaces/${workspace.id}/current-state-version-outputs`);
    expect(outputs.map(({ attributes }) => [attributes.name, attributes.value])).toEqual([['a', 'a']]);
  });

  it('allow-empty-apply applies a plan without changes automatically', async () => {
    const workspace = await applied();
    const run = await untilFinal(await client.createRun(workspace.id, { 'allow-empty-apply': true }));
    expect(run.attributes).toMatchObject({ status: 'applied', 'has-changes': false });
    expect(await readLog(run, 'apply')).toContain('Resources: 0 added, 0 changed, 0 destroyed');
  });

  it('target-addrs plans and applies only these resources', async () => {
    const workspace = await newWorkspace();
    const options = { 'target-addrs': ['terraform_data.b'], 'auto-apply': true };
    const run = await untilFinal(await startRun(workspace, ab, options));
    expect(run.attributes).toMatchObject({ status: 'applied', 'target-addrs': ['terraform_data.b'] });
    expect(await inState(workspace)).toEqual(['terraform_data.b']);
  });

  it('replace-addrs replaces these resources', async () => {
    const workspace = await applied();
    const run = await untilConfirmable(await client.createRun(workspace.id, { 'replace-addrs': ['terraform_data.a'] }));
    expect(await actionsOf(run)).toEqual({ 'terraform_data.a': 'delete create', 'terraform_data.b': 'no-op' });
    expect((await plan(run)).attributes).toMatchObject({ 'resource-additions': 1, 'resource-destructions': 1 });
    await client.act(run.id, 'discard');
  });

  it('variables takes their values as expressions, which override those of the workspace', async () => {
    const workspace = await newWorkspace({ 'auto-apply': true });
    await client.setVariable(workspace.id, { key: 'word', value: 'of the workspace' });
    const files = { 'main.tf': 'variable "word" {}\nvariable "list" {}\noutput "o" { value = [var.word, var.list] }' };
    const variables = [
      { key: 'word', value: '"of the run"' },
      { key: 'list', value: '[1, 2 + 3]' },
    ];
    const run = await untilFinal(await startRun(workspace, files, { variables }));
    expect(run.attributes).toMatchObject({ status: 'applied', variables });
    const [output] = await client.list(`/workspaces/${workspace.id}/current-state-version-outputs`);
    expect(output?.attributes.value).toEqual(['of the run', [1, 5]]);
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

  it('allow-config-generation generates the configuration for an import', async () => {
    const files = { 'main.tf': 'import {\n  to = terraform_data.old\n  id = "found"\n}\n' };
    const workspace = await newWorkspace();
    const refused = await untilFinal(await startRun(workspace, files, { 'plan-only': true }));
    expect(refused.attributes.status).toBe('errored');
    const run = await untilFinal(
      await client.createRun(workspace.id, { 'plan-only': true, 'allow-config-generation': true }),
    );
    expect(run.attributes.status).toBe('planned_and_finished');
    expect((await plan(run)).attributes).toMatchObject({ 'generated-configuration': true, 'resource-imports': 1 });
    const [change] = (await planJson(run)).resource_changes;
    expect(change.change.generated_config).toContain('resource "terraform_data" "old"');
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
