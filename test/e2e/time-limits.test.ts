import { describe, expect, it } from 'vitest';
import { slowState } from './support/slow-state.ts';
import { client, inState, newName, readLog, reasonOf, resources, startRun, untilFinal } from './support/world.ts';

/** A workspace of an organization with these time limits for runs. */
const limited = async (limits: Record<string, string>) => {
  const name = newName('org');
  const attributes = { name, email: 'owner@localhost', ...limits };
  await client.call('POST', '/organizations', { data: { type: 'organizations', attributes } });
  return client.createWorkspace(name, newName());
};

describe.concurrent('a run that takes longer than its organization allows', () => {
  it('is interrupted during the plan and reports it', async () => {
    // The interrupted Terraform continues for this long.
    const slow = await slowState(8_000);
    try {
      const workspace = await limited({ 'terraform-build-worker-plan-timeout': '3s' });
      const run = await untilFinal(await startRun(workspace, { 'main.tf': slow.configuration }));
      expect(run.attributes.status).toBe('errored');
      expect(reasonOf(run)).toBe('The plan took longer than its time limit and was stopped. The state is unchanged.');
    } finally {
      await slow.close();
    }
  });

  it('is interrupted while it applies, keeps its state, and the next run starts', async () => {
    const workspace = await limited({ 'terraform-build-worker-apply-timeout': '6s' });
    const endless = `${resources(['quick'])}
resource "terraform_data" "endless" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "sleep 600"
  }
}`;
    const run = await startRun(workspace, { 'main.tf': endless }, { 'auto-apply': true });
    const next = await startRun(workspace, { 'main.tf': resources(['quick']) });
    const ended = await untilFinal(run);
    expect(ended.attributes.status).toBe('errored');
    expect(reasonOf(ended)).toMatch(
      /^The apply took longer than its time limit and was stopped\. The state may be stale/,
    );
    expect(await readLog(ended, 'apply')).toMatch(/Interrupt received/);
    expect(await inState(workspace)).toContain('terraform_data.quick');
    await client.waitForRun(next.id, ({ attributes }) => attributes.status !== 'pending');
  });
});
