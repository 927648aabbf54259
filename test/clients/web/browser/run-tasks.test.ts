import { expect, it } from 'vitest';
import { attach, callBack, fails, isSilent, newTask } from '#test/e2e/support/run-tasks.ts';
import { newWorkspace, resources, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { runPath, seesStatus, visit } from './support/reader.ts';

/** Run tasks on the page of a run: their progress and results. */

const files = { 'main.tf': resources(['a']) };
const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

const outcome = (id: string, attributes: object) => ({
  type: 'task-result-outcomes',
  attributes: { 'outcome-id': id, description: `about ${id}`, ...attributes },
});

it('run tasks show progress live, then the result', async () => {
  const { server, task } = await newTask(isSilent);
  const workspace = await newWorkspace();
  await attach(workspace, task, ['post_plan']);
  const run = await startRun(workspace, files, { message: 'Asks a task' });
  const page = await visit(runPath(workspace.attributes.name, run.id));
  const { payload } = await server.request(2);
  await seesStatus(page, 'Post-plan running');
  const stage = page.locator('details', { has: page.getByRole('heading', { name: 'Post-plan tasks' }) });
  await stage.getByText('0 of 1 passed').waitFor();
  await callBack(payload, { status: 'running', message: 'half of it' });
  await stage.getByText('half of it').waitFor();
  await callBack(payload, { status: 'passed', message: 'nothing found', url: 'https://task.test/details' });
  await stage.getByText('1 of 1 passed').waitFor();
  // The stage folds a moment after its last result; an earlier click would be undone.
  await expect.poll(() => stage.getAttribute('open')).toBe(null);
  await stage.getByRole('heading').click();
  const link = stage.getByRole('link', { name: `Details of ${task.attributes.name}` });
  expect(await link.getAttribute('href')).toBe('https://task.test/details');
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer nofollow');
  await page.getByRole('button', { name: 'Confirm & Apply' }).waitFor();
});

it('the mandatory task that failed the run is named', async () => {
  const { task } = await newTask(fails);
  const workspace = await newWorkspace();
  await attach(workspace, task, ['pre_plan']);
  const run = await untilFinal(await startRun(workspace, files));
  const page = await visit(runPath(workspace.attributes.name, run.id));
  await seesStatus(page, `Plan Errored · run task ${task.attributes.name}`);
  const notice = page.getByRole('alert').filter({ hasText: task.attributes.name });
  await notice.getByText('required to succeed').waitFor();
  await page.locator('.task-results').getByText('2 of 6 failed').waitFor();
  expect(await page.getByRole('link', { name: 'Show the run task' }).getAttribute('href')).toBe('#tasks-pre_plan');
  await page.locator('.task-results .status.bad').waitFor();
});

it('outcomes have tags, and untrusted Markdown is rendered safely', async () => {
  const { server, task } = await newTask(isSilent);
  const workspace = await newWorkspace();
  await attach(workspace, task, ['pre_plan'], 'advisory');
  const run = await startRun(workspace, files, { 'plan-only': true });
  const { payload } = await server.request(2);
  const body = [
    `# Heading ${evil}`,
    `- **bold** ${evil}`,
    '[a trap](javascript:window.hacked=1) and [a link](https://task.test/why)',
    `![image](https://task.test/x.png)`,
    '',
    `| a | ${evil} |`,
    '|---|---|',
    '| 1 | 2 |',
  ].join('\n');
  const tags = {
    Severity: [{ label: 'High', level: 'error' }],
    [evil]: [{ label: evil, level: 'warning' }],
  };
  await callBack(payload, { status: 'failed', message: evil, url: 'https://task.test/' }, [
    outcome('CC-1', { description: evil, url: 'https://task.test/1', body, tags }),
    outcome('CC-2', {}),
  ]);
  await untilFinal(run);
  const page = await visit(runPath(workspace.attributes.name, run.id));
  await page.locator('.task-results').getByText('onerror').first().waitFor();
  await page.getByText('2 outcomes').click();
  await page.locator('.tag.bad', { hasText: 'High' }).waitFor();
  await page.locator('.tag.warn', { hasText: 'onerror' }).waitFor();
  await page.getByText('Details of CC-1').click();
  const markdown = page.locator('.markdown');
  await markdown.getByText('Heading').waitFor();
  expect(await markdown.locator('strong').innerText()).toBe('bold');
  const links = await markdown.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(links).toEqual(['https://task.test/why', 'https://task.test/x.png']);
  expect(await markdown.getByText('javascript:window.hacked=1').count()).toBe(1);
  expect(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();
  expect(await page.locator('img, script:not([src])').count()).toBe(0);
});
