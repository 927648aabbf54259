import { describe, expect, it } from 'vitest';
import { attachPolicy } from '../support/policies.ts';
import { inWorkspace, runIn } from '../support/terraform.ts';

describe.concurrent('terraform apply, with a policy check,', () => {
  it('shows passed policies', async () => {
    const { here, workspace } = await inWorkspace();
    await attachPolicy(workspace, 'hard-mandatory', { rule: 'deny := []' });
    const text = await here.succeed('plan');
    expect(text).toContain('Organization Policy Check:');
    expect(text).toContain('PASSED  sizes (hard-mandatory) – No large machines');
  });

  it('asks to override soft failures, and then to apply', async () => {
    const { here, workspace } = await inWorkspace();
    await attachPolicy(workspace, 'soft-mandatory');
    const command = here.start('apply');
    await command.until('Do you want to override the soft failed policy check?');
    expect(command.text).toContain('    - too large');
    command.answer('override');
    await command.until('Do you want to perform these actions');
    expect((await runIn(command.text)).attributes).toMatchObject({
      status: 'policy_checked',
      actions: { 'is-confirmable': true },
    });
    command.answer('no');
    const { code, text } = await command.ended;
    expect({ code, text }).toMatchObject({ code: 1, text: expect.stringContaining('Apply discarded.') });
  });

  it('with -auto-approve overrides and applies without asking', async () => {
    const { here, workspace } = await inWorkspace();
    await attachPolicy(workspace, 'soft-mandatory');
    const { code, text } = await here.run('apply -auto-approve');
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining('Apply complete!') });
  });

  it('fails on hard failures; a plan also fails on soft ones', async () => {
    const { here, workspace } = await inWorkspace();
    await attachPolicy(workspace, 'hard-mandatory');
    const applied = await here.run('apply');
    expect({ ...applied }).toMatchObject({ code: 1, text: expect.stringContaining('hard failed') });
    const other = await inWorkspace();
    await attachPolicy(other.workspace, 'soft-mandatory');
    const planned = await other.here.run('plan');
    expect({ ...planned }).toMatchObject({ code: 1, text: expect.stringContaining('soft failed') });
    expect((await runIn(planned.text)).attributes.status).toBe('policy_soft_failed');
  });
});

describe.concurrent('terraform apply, with a policy evaluation,', () => {
  it('shows each policy, and asks to override those that failed', async () => {
    const { here, workspace } = await inWorkspace();
    await attachPolicy(workspace, 'mandatory', { overridable: true });
    const command = here.start('apply');
    await command.until('Do you want to override the failed policies?');
    expect(command.text).toMatch(/Overall Result: .*FAILED/);
    expect(command.text).toContain('sizes');
    command.answer('override');
    await command.until('Do you want to perform these actions');
    command.answer('yes');
    const { code, text } = await command.ended;
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining('Apply complete!') });
  });

  it('fails when policies cannot be overridden', async () => {
    const { here, workspace } = await inWorkspace();
    await attachPolicy(workspace, 'mandatory');
    const { code, text } = await here.run('apply');
    expect({ code, text }).toMatchObject({ code: 1, text: expect.stringMatching(/Overall Result: .*FAILED/) });
    expect((await runIn(text)).attributes.status).toBe('errored');
  });

  it('succeeds when all passed', async () => {
    const { here, workspace } = await inWorkspace();
    await attachPolicy(workspace, 'mandatory', { rule: 'deny := []' });
    expect(await here.succeed('plan')).toMatch(/Overall Result: .*PASSED/);
  });
});
