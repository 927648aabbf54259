import { beforeAll, describe, expect, it } from 'vitest';
import { example, host, Terraform } from './support/terraform.ts';
import { client, newName, type Resource, resources, startRun, untilConfirmable, untilFinal } from './support/world.ts';

/** In a separate organization, because the others have no cost estimates. */

const home = newName('costs');
beforeAll(async () => {
  await client.create('/organizations', 'organizations', {
    name: home,
    email: 'costs@localhost',
    'cost-estimation-enabled': true,
  });
});

const estimateOf = (run: Resource): Promise<Resource> => client.get(`/cost-estimates/${run.id.replace('run-', 'ce-')}`);
const newWorkspace = (): Promise<Resource> => client.createWorkspace(home, newName());

describe('a run of an organization with cost estimation', () => {
  it('is estimated after its plan, and then waits to be confirmed', async () => {
    const run = await untilConfirmable(await startRun(await newWorkspace(), { 'main.tf': resources(['a', 'b']) }));
    expect(run.attributes.status).toBe('cost_estimated');
    const at = run.attributes['status-timestamps'];
    expect(at['planned-at'] <= at['cost-estimating-at'] && at['cost-estimating-at'] <= at['cost-estimated-at']).toBe(
      true,
    );
    const { attributes } = await estimateOf(run);
    expect(attributes).toMatchObject({
      status: 'finished',
      'resources-count': 2,
      'matched-resources-count': 2,
      'unmatched-resources-count': 0,
      'delta-monthly-cost': '0.0',
      resources: { matched: [{ address: 'terraform_data.a' }, { address: 'terraform_data.b' }], unmatched: [] },
    });
    await client.act(run.id, 'apply');
    expect((await untilFinal(run)).attributes.status).toBe('applied');
  });
});

it('terraform shows the estimate, before it asks', async () => {
  const name = newName('cli');
  const cloud = `terraform {\n  cloud {\n    hostname = "${host}"\n    organization = "${home}"\n    workspaces {\n      name = "${name}"\n    }\n  }\n}\n`;
  const here = new Terraform({ files: { 'cloud.tf': cloud, 'main.tf': example } });
  await here.succeed('init -input=false');
  const planned = await here.succeed('plan');
  expect(planned).toMatch(/Cost Estimation:\s+Resources: 2 of 2 estimated\s+\$0\.0\/mo \+\$0\.0/);
  const applied = await here.succeed('apply', ['yes']);
  expect(applied).toMatch(/Resources: 2 of 2 estimated[\s\S]+Do you want to perform these actions/);
  expect(await here.succeed('plan -target=terraform_data.a')).toContain('created with the -target option');
});
