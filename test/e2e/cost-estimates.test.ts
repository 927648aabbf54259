import { beforeAll, expect, it } from 'vitest';
import { example, host, Terraform } from './support/terraform.ts';
import { client, newName } from './support/world.ts';

/** In a separate organization, because the others have no cost estimates. */

const home = newName('costs');
beforeAll(async () => {
  await client.create('/organizations', 'organizations', {
    name: home,
    email: 'costs@localhost',
    'cost-estimation-enabled': true,
  });
});

it('terraform shows the estimate, before it asks', async () => {
  const name = newName('cli');
  const cloud = `terraform {\n  cloud {\n    hostname = "${host}"\n    organization = "${home}"\n    workspaces {\n      name = "${name}"\n    }\n  }\n}\n`;
  const here = new Terraform({ files: { 'cloud.tf': cloud, 'main.tf': example } });
  await here.succeed('init -input=false');
  const applied = await here.succeed('apply', ['yes']);
  expect(applied).toMatch(/Cost Estimation:\s+Resources: 2 of 2 estimated\s+\$0\.0\/mo \+\$0\.0/);
  expect(applied).toMatch(/Resources: 2 of 2 estimated[\s\S]+Do you want to perform these actions/);
  expect(await here.succeed('plan -target=terraform_data.a')).toContain('created with the -target option');
});
