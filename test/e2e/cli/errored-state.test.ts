import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { meddle, operate } from '../support/operator.ts';
import { newSharedFolder } from '../support/shared-folder.ts';
import { inWorkspace } from '../support/terraform.ts';
import { until, untilHeld } from '../support/waiting.ts';
import {
  client,
  download,
  inState,
  platform,
  readLog,
  reasonOf,
  startRun,
  untilConfirmable,
  untilFinal,
} from '../support/world.ts';

it('a state that could not be saved holds the queue until terraform state push', async () => {
  operate(platform);
  const { here, workspace } = await inWorkspace();
  const folder = newSharedFolder('errored-');
  const at = (name: string) => join(folder, name);
  const configuration = `resource "terraform_data" "before" {}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.before]
  provisioner "local-exec" {
    command = "touch ${at('begun')}; until [ -e ${at('go')} ]; do sleep 0.1; done"
  }
}
`;
  const run = await startRun(workspace, { 'main.tf': configuration }, { 'auto-apply': true });
  const next = await startRun(workspace, { 'main.tf': configuration });
  await until(
    async () => existsSync(at('begun')) && (await inState(workspace).catch(() => [])).length > 0,
    (begun) => begun,
  );
  const mend = await meddle(workspace.id);
  writeFileSync(at('go'), '');
  const failed = await untilFinal(run);
  await mend();
  expect(failed.attributes.status).toBe('errored');
  expect(reasonOf(failed)).toMatch(/could not be saved to the workspace.*lineage.*"terraform state push".*locked/);
  expect(await readLog(failed, 'apply')).toContain("saved as this apply's errored state");

  const held = await untilHeld(client, workspace.id);
  expect(held.attributes.locked).toBe(true);
  expect(held.relationships?.['locked-by']?.data).toMatchObject({ type: 'runs', id: run.id });
  await expect(client.call('POST', `/workspaces/${workspace.id}/actions/unlock`)).rejects.toThrow(/is locked by Run/);

  const apply = await client.phase(failed, 'apply');
  const path = `/applies/${apply.id}/errored-state`;
  expect(apply.links?.['errored-state']).toBe(`/api/v2${path}`);
  const state = await download(path);
  here.write('main.tf', configuration);
  expect(await here.succeed('plan')).toMatch(/terraform_data.slow will be created/);
  // Locks and unlocks the workspace, and does not restore that state.
  await here.succeed('state mv terraform_data.before terraform_data.moved');
  expect((await client.run(next.id)).attributes.status).toBe('pending');
  here.write('errored.tfstate', JSON.stringify(state));
  await here.succeed('state push errored.tfstate');
  expect(await here.succeed('state list')).toBe('terraform_data.before\nterraform_data.slow\n');
  const planned = await untilConfirmable(next);
  expect([planned.attributes.status, reasonOf(planned)]).toEqual(['planned_and_finished', '']);
});
