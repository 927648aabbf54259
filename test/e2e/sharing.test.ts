import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { until } from './support/waiting.ts';
import { client, newWorkspace, organization, platform, readLog, startRun, untilFinal } from './support/world.ts';

/** Data that workspaces share: state, runs, variables. */

const host = new URL(platform.httpsUrl ?? platform.url).host;

const outputs = 'output "region" { value = "north" }\noutput "key" {\n  value     = "s3cr3t"\n  sensitive = true\n}\n';

const reading = (name: string): string => `data "terraform_remote_state" "network" {
  backend = "remote"
  config = {
    hostname     = "${host}"
    organization = "${organization}"
    workspaces   = { name = "${name}" }
  }
}
resource "terraform_data" "copy" {
  input = data.terraform_remote_state.network.outputs.region
}
output "copied" { value = terraform_data.copy.output }
`;

const outputOf = async (workspaceId: string, name: string): Promise<unknown> => {
  const all = await client.list(`/workspaces/${workspaceId}/current-state-version-outputs`);
  return all.find(({ attributes }) => attributes.name === name)?.attributes.value;
};

it('a run reads another workspace’s state only while it is shared', async () => {
  const [source, reader] = [await newWorkspace({ 'auto-apply': true }), await newWorkspace({ 'auto-apply': true })];
  expect((await untilFinal(await startRun(source, { 'main.tf': outputs }))).attributes.status).toBe('applied');
  const files = { 'main.tf': reading(source.attributes.name) };

  const refused = await untilFinal(await startRun(reader, files));
  expect(refused.attributes.status).toBe('errored');
  expect(await readLog(refused, 'plan')).not.toContain('north');

  const consumers = `/workspaces/${source.id}/relationships/remote-state-consumers`;
  await client.call('POST', consumers, { data: [{ type: 'workspaces', id: reader.id }] });
  const shared = await untilFinal(await startRun(reader, files));
  expect([shared.attributes.status, shared.attributes['end-reason']]).toEqual(['applied', null]);
  expect(await outputOf(reader.id, 'copied')).toBe('north');

  await client.call('DELETE', consumers, { data: [{ type: 'workspaces', id: reader.id }] });
  expect((await untilFinal(await startRun(reader, files))).attributes.status).toBe('errored');
});

it('an apply queues a run in the next workspace, which auto-applies if its setting allows', async () => {
  const source = await newWorkspace({ 'auto-apply': true });
  const target = await newWorkspace({ 'auto-apply-run-trigger': true });
  await client.upload(target.id, await packFiles({ 'main.tf': 'output "n" { value = 1 }\n' }));
  await client.create(
    `/workspaces/${target.id}/run-triggers`,
    'run-triggers',
    {},
    {
      sourceable: { data: { type: 'workspaces', id: source.id } },
    },
  );
  const applied = await untilFinal(await startRun(source, { 'main.tf': outputs }));
  expect(applied.attributes.status).toBe('applied');
  const [triggered] = await until(
    () => client.list(`/workspaces/${target.id}/runs`),
    (runs) => runs.length > 0,
    240_000,
  );
  expect(triggered?.attributes).toMatchObject({
    'trigger-reason': 'run_trigger',
    'triggering-source-name': source.attributes.name,
  });
  expect(triggered && (await untilFinal(triggered)).attributes.status).toBe('applied');
  expect(await client.list(`/workspaces/${target.id}/runs`)).toHaveLength(1);
});

it('a run takes its values from variable sets in the documented order, and keeps their secrets', async () => {
  const workspace = await newWorkspace({ 'auto-apply': true });
  const set = async (attributes: object, variables: object[]) =>
    client.call('POST', `/organizations/${organization}/varsets`, {
      data: {
        type: 'varsets',
        attributes: { name: `${workspace.id} ${JSON.stringify(attributes)}`, ...attributes },
        relationships: {
          workspaces: { data: [{ type: 'workspaces', id: workspace.id }] },
          vars: { data: variables.map((one) => ({ type: 'vars', attributes: { category: 'terraform', ...one } })) },
        },
      },
    });
  await client.setVariable(workspace.id, { key: 'below', value: 'workspace' });
  await client.setVariable(workspace.id, { key: 'above', value: 'workspace' });
  await set({ priority: false }, [
    { key: 'below', value: 'set' },
    { key: 'only', value: 'set' },
    { key: 'password', value: 'correct horse', sensitive: true },
  ]);
  await set({ priority: true }, [{ key: 'above', value: 'priority set' }]);
  const names = ['below', 'above', 'only', 'password'];
  const configuration = [
    ...names.map((name) => `variable "${name}" {}`),
    'output "values" { value = join(", ", [var.below, var.above, var.only]) }',
    'output "length" { value = nonsensitive(length(var.password)) }',
  ].join('\n');
  const run = await untilFinal(await startRun(workspace, { 'main.tf': configuration }));
  expect([run.attributes.status, run.attributes['end-reason']]).toEqual(['applied', null]);
  expect(await outputOf(workspace.id, 'values')).toBe('workspace, priority set, set');
  expect(await outputOf(workspace.id, 'length')).toBe(13);
  expect(await readLog(run, 'plan')).not.toContain('correct horse');
});
