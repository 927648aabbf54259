import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../../../functions/cli/client.ts';
import { giveBack, operate, takeAway } from '../support/operator.ts';
import { inWorkspace } from '../support/terraform.ts';
import { client, download, platform, readLog, reasonOf, startRun, untilFinal } from '../support/world.ts';

it('a state that could not become the workspace’s is offered, and terraform state push brings it in', async () => {
  operate(platform);
  const { here, workspace } = await inWorkspace();
  const at = (name: string) => join(here.directory, name);
  const configuration = `resource "terraform_data" "before" {}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.before]
  provisioner "local-exec" {
    command = "touch ${at('begun')}; until [ -e ${at('go')} ]; do sleep 0.1; done"
  }
}
`;
  const run = await startRun(workspace, { 'main.tf': configuration }, { 'auto-apply': true });
  await until(
    async () => existsSync(at('begun')),
    (begun) => begun,
    60_000,
  );
  await takeAway(workspace.id);
  writeFileSync(at('go'), '');
  const failed = await untilFinal(run);
  await giveBack(workspace.id);
  expect(failed.attributes.status).toBe('errored');
  expect(reasonOf(failed)).toMatch(/could not become the workspace's.*must be locked.*"terraform state push"/);
  expect(await readLog(failed, 'apply')).toContain("kept as this apply's errored state");

  const apply = await client.phase(failed, 'apply');
  const path = `/applies/${apply.id}/errored-state`;
  expect(apply.links?.['errored-state']).toBe(`/api/v2${path}`);
  const state = await download(path);
  here.write('main.tf', configuration);
  expect(await here.succeed('plan')).toMatch(/terraform_data.slow will be created/);
  here.write('errored.tfstate', JSON.stringify(state));
  await here.succeed('state push errored.tfstate');
  expect(await here.succeed('state list')).toBe('terraform_data.before\nterraform_data.slow\n');
  expect(await here.succeed('plan')).toContain('No changes.');
});
