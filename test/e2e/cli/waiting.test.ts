import { describe, expect, it } from 'vitest';
import { inWorkspace, runIn } from '../support/terraform.ts';
import { client, resources, startRun, untilConfirmable, untilFinal, untilUnlocked } from '../support/world.ts';

/** A quick resource, then one that runs until it is interrupted. */
const slow = `${resources(['quick'])}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "sleep 600"
  }
}`;
const files = { 'main.tf': resources(['a']) };

describe.concurrent('terraform apply, when it has to wait,', () => {
  it('can be interrupted, which cancels no other run, and continues when runs ahead have ended', async () => {
    const { here, workspace } = await inWorkspace(files['main.tf']);
    const front = await untilConfirmable(await startRun(workspace, files));
    const interrupted = here.start('apply -auto-approve');
    await interrupted.until('Waiting for 1 run(s) to finish before being queued...');
    interrupted.interrupt();
    expect((await interrupted.ended).text).toContain('The remote operation was successfully cancelled.');
    expect((await untilFinal(await runIn(interrupted.text))).attributes.status).toBe('canceled');
    expect((await client.run(front.id)).attributes.actions['is-confirmable']).toBe(true);

    const command = here.start('apply -auto-approve');
    await command.until('Waiting for 1 run(s) to finish before being queued...');
    expect((await runIn(command.text)).attributes.status).toBe('pending');
    await client.act(front.id, 'discard');
    const { code, text } = await command.ended;
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining('Apply complete!') });
  });

  it("shows that the workspace is locked and continues when it is unlocked; plan-only runs don't wait", async () => {
    const { here, workspace } = await inWorkspace(files['main.tf']);
    await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, { reason: 'maintenance' });
    expect(await here.succeed('plan')).toContain('Plan: 1 to add');
    const command = here.start('apply -auto-approve');
    await command.until('Waiting for the manually locked workspace to be unlocked...');
    await client.call('POST', `/workspaces/${workspace.id}/actions/unlock`);
    const { code, text } = await command.ended;
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining('Apply complete!') });
  });
});

describe.concurrent('Ctrl-C', () => {
  it('asks, then interrupts an apply; completed changes are kept', async () => {
    const { here, workspace } = await inWorkspace(slow);
    const command = here.start('apply');
    await command.until('Enter a value:');
    command.answer('yes');
    await command.until(/terraform_data\.slow: Provisioning/);
    command.interrupt();
    await command.until('Do you want to cancel the remote operation?');
    command.answer('yes');
    expect((await command.ended).text).toContain('The remote operation was successfully cancelled.');
    expect((await untilFinal(await runIn(command.text))).attributes.status).toBe('canceled');
    expect(await here.succeed('state list')).toContain('terraform_data.quick\n');
    await untilUnlocked(workspace);
  });

  it('during a plan does not stop the plan', async () => {
    const { here } = await inWorkspace(
      'output "n" {\n  value = length(flatten([for a in range(500) : [for b in range(500) : a * b]]))\n}\n',
    );
    const command = here.start('plan');
    await command.until('Initializing plugins and modules...');
    command.interrupt();
    expect((await command.ended).text).toContain('Interrupt received.');
    expect((await untilFinal(await runIn(command.text))).attributes.status).toBe('planned_and_finished');
  });

  it('at the prompt leaves the run waiting for confirmation', async () => {
    const { here } = await inWorkspace(files['main.tf']);
    const command = here.start('apply');
    await command.until('Enter a value:');
    command.interrupt();
    // Whether terraform reports this as a failure depends on a race between two of its goroutines.
    await command.ended;
    const run = await runIn(command.text);
    expect(run.attributes.actions['is-confirmable']).toBe(true);
    await client.act(run.id, 'discard');
    expect((await untilFinal(run)).attributes.status).toBe('discarded');
  });
});
