import { beforeAll, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { until } from '../support/waiting.ts';
import {
  client,
  newName,
  organization,
  planJson,
  type Resource,
  readLog,
  reasonOf,
  untilConfirmable,
  untilFinal,
} from '../support/world.ts';

/** A workspace without its own configuration: from a registry module to its first apply, and to the next version. */

const name = newName('ready');
const modules = `/organizations/${organization}/registry-modules`;

const main = (more: string): string => `
variable "size" {
  type        = string
  description = "Of what there is, \\"as is\\": $\${nothing}"
}
variable "labels" {
  type = map(string)
  default = {
    team = "core"
  }
}
variable "password" {
  type      = string
  sensitive = true
  default   = ""
}
variable "text" {
  default = <<-END
    two
    lines
  END
}
resource "terraform_data" "a" {
  input = "\${var.size} \${join(",", keys(var.labels))} ${more}"
}
output "shown" {
  value = terraform_data.a.output
}
output "hidden" {
  value     = var.password
  sensitive = true
}
`;

const publish = async (version: string): Promise<void> => {
  const path = `${modules}/private/${organization}/${name}/aws/versions`;
  const created = await client.create(path, 'registry-module-versions', { version });
  const body = (await packFiles({ 'main.tf': main(version) })) as unknown as BodyInit;
  expect((await fetch(created.links?.upload ?? '', { method: 'PUT', body })).status).toBe(200);
};

const vars = (values: Record<string, string>) => ({
  vars: { data: Object.entries(values).map(([key, value]) => ({ type: 'vars', attributes: { key, value } })) },
});

const post = (path: string, type: string, attributes: object, relationships: object = {}): Promise<Resource> =>
  client.call<Resource>('POST', path, { data: { type, attributes, relationships } }).then(({ data }) => data);

let noCode: Resource;
beforeAll(async () => {
  const address = { name, provider: 'aws', 'registry-name': 'private' };
  const module = await client.create(modules, 'registry-modules', address);
  await publish('1.0.0');
  const relationships = {
    'registry-module': { data: { type: 'registry-modules', id: module.id } },
    'variable-options': {
      data: [
        {
          type: 'variable-options',
          attributes: { 'variable-name': 'size', 'variable-type': 'string', options: ['small', 'large'] },
        },
      ],
    },
  };
  noCode = await post(`/organizations/${organization}/no-code-modules`, 'no-code-modules', {}, relationships);
});

const outputs = async ({ id }: Resource): Promise<Record<string, unknown>> => {
  const list = await client.list(`/workspaces/${id}/current-state-version-outputs`);
  return Object.fromEntries(list.map(({ attributes }) => [attributes.name, attributes.value]));
};

it('a no-code workspace is provisioned with the real Terraform, and upgraded after a user confirms the diff', async () => {
  const workspaces = `/no-code-modules/${noCode.id}/workspaces`;
  const attributes = { name: newName(), 'auto-apply': true };
  const workspace = await post(workspaces, 'workspaces', attributes, vars({ size: 'large', password: 'hidden' }));
  const [first] = await client.list(`/workspaces/${workspace.id}/runs`);
  const applied = await untilFinal(first as Resource);
  expect([applied.attributes.status, reasonOf(applied)]).toEqual(['applied', '']);
  expect(await readLog(applied, 'plan')).not.toContain('hidden');
  expect(await outputs(workspace)).toMatchObject({ shown: 'large team 1.0.0' });

  await publish('2.0.0');
  await client.get(`${modules}/private/${organization}/${name}/aws`);
  const shown = await client.get(`/workspaces/${workspace.id}`);
  expect(shown.attributes['no-code-upgrade-available']).toBe(true);
  const upgrade = await post(`${workspaces}/${workspace.id}/upgrade`, 'workspaces', {});
  const run = await untilConfirmable(await client.run(upgrade.id));
  expect(run.attributes['auto-apply']).toBe(false);
  const { resource_changes: changes } = await planJson(run);
  expect(changes).toMatchObject([
    { change: { before: { input: 'large team 1.0.0' }, after: { input: 'large team 2.0.0' } } },
  ]);
  await client.call('POST', `${workspaces}/${workspace.id}/upgrade/${run.id}`);
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  expect(await outputs(workspace)).toMatchObject({ shown: 'large team 2.0.0' });
  // Recorded after the run's last status.
  const { attributes: after } = await until(
    () => client.get(`/workspaces/${workspace.id}`),
    ({ attributes: shown }) => shown['no-code-upgrade-available'] === false,
  );
  expect(after['source-module-id']).toBe(`private/${organization}/${name}/aws/2.0.0`);
});
