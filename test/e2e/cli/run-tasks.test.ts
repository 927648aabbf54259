import { describe, expect, it } from 'vitest';
import { attach, callBack, fails, isSilent, newTask } from '../support/run-tasks.ts';
import { inWorkspace, runIn } from '../support/terraform.ts';

describe.concurrent('terraform, with run tasks,', () => {
  it('shows their messages while it waits, and applies', async () => {
    const { here, workspace } = await inWorkspace();
    const { server, task } = await newTask(isSilent);
    await attach(workspace, task, ['post_plan']);
    const command = here.start('apply');
    const { payload } = await server.request(2);
    await command.until('1 tasks still pending');
    await callBack(payload, { status: 'running', message: 'half of it' });
    await callBack(payload, { status: 'passed', message: '6 of 6 passed', url: 'https://task.test/details' });
    await command.until('Enter a value:');
    command.answer('yes');
    const { code, text } = await command.ended;
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining('Apply complete!') });
    for (const line of [task.attributes.name, '6 of 6 passed', 'https://task.test/details', 'Overall Result: Passed'])
      expect(text).toContain(line);
    expect((await runIn(text)).attributes.status).toBe('applied');
  });

  it('fails when a mandatory one does, and names it', async () => {
    const { here, workspace } = await inWorkspace();
    const { task } = await newTask(fails);
    await attach(workspace, task, ['post_plan']);
    const { code, text } = await here.run('apply -auto-approve');
    expect(code).toBe(1);
    for (const line of [task.attributes.name, '2 of 6 failed', 'Task Stage failed.']) expect(text).toContain(line);
    expect((await runIn(text)).attributes.status).toBe('errored');
  });

  it('continues when an advisory one fails, at every stage', async () => {
    const { here, workspace } = await inWorkspace();
    const { task } = await newTask(fails);
    await attach(workspace, task, ['pre_plan', 'post_plan', 'pre_apply', 'post_apply'], 'advisory');
    expect(await here.succeed('apply -auto-approve')).toContain('Apply complete!');
  });
});
