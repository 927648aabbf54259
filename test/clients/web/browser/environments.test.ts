import { beforeAll, expect, it } from 'vitest';
import { coder, shortName, template as withProvider } from '#test/e2e/support/coder-session.ts';
import {
  createEnvironment,
  environmentsApi,
  pushTemplate,
  pushVersion,
  untilBuilt,
} from '#test/e2e/support/environments.ts';
import { client, newName } from '#test/e2e/support/world.ts';
import { wrongWith } from './support/accessibility.ts';
import { organization, seesStatus, visit } from './support/reader.ts';
import { openView, picture } from './support/views.ts';

/** Templates and environments on the page, for their authors and users. */

/** A build with Coder's provider takes four times as long: a variable replaces its count. */
const withoutProvider = `
variable "start_count" { default = 1 }
resource "terraform_data" "home" { input = "kept" }
resource "terraform_data" "compute" { count = var.start_count }
`;
const main = coder ? withProvider : withoutProvider;
const tpl = shortName('page');
const dev = shortName('dev');
let template: { id: string };
let environment: { id: string };

beforeAll(async () => {
  template = await pushTemplate(tpl, { 'main.tf': main });
});

const path = () => `/app/${organization}/environments/${environment.id}`;

it('an environment is created from a template, and its build can be canceled until it has ended', async () => {
  const page = await visit(`/app/${organization}/templates/${template.id}`);
  await page.getByRole('button', { name: 'Create environment' }).click();
  const dialog = page.getByRole('dialog');
  if (coder) {
    await dialog.getByLabel('Preset').selectOption('none');
    await dialog.getByLabel('size').fill('20');
  }
  await dialog.getByLabel('Name', { exact: true }).fill('not a name');
  await dialog.getByRole('button', { name: 'Create environment' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Name', { exact: true }).fill(dev);
  await dialog.getByRole('button', { name: 'Create environment' }).click();
  await page.getByRole('heading', { name: dev }).waitFor();
  environment = { id: new URL(page.url()).pathname.split('/').pop() ?? '' };
  await page.getByRole('button', { name: 'Cancel build' }).waitFor();
  await seesStatus(page, 'running');
  await page.getByRole('button', { name: 'Cancel build' }).waitFor({ state: 'detached' });
  if (coder) await page.getByRole('region', { name: 'Parameters' }).getByText('20', { exact: true }).waitFor();
  const { id } = await untilBuilt(environment.id);
  const parameters = await environmentsApi('GET', `/workspacebuilds/${id}/parameters`);
  if (coder) expect(parameters).toContainEqual({ name: 'size', value: '20' });
});

it('an invalid parameter is rejected before anything is stopped', async () => {
  if (!coder) return;
  const before = await untilBuilt(environment.id);
  const page = await visit(path());
  await page.getByRole('button', { name: 'Restart' }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByLabel('region').getAttribute('readonly')).not.toBe(null);
  const size = dialog.getByLabel('size');
  // The value was 20 and can only increase.
  await size.fill('5');
  await dialog.getByRole('button', { name: 'Restart environment' }).click();
  expect(await size.evaluate((input) => (input as HTMLInputElement).validity.rangeUnderflow)).toBe(true);
  expect((await untilBuilt(environment.id)).build_number).toBe(before.build_number);
});

it('resources of an environment are cards with their metadata, sensitive values on request', async () => {
  const page = await visit(`/app/${organization}/environments`);
  const resource = {
    ...{ id: 'r-1', type: 'aws_instance', name: 'main', hide: false, daily_cost: 3 },
    metadata: [
      { key: 'address', value: '10.1.2.3', sensitive: false },
      { key: 'password', value: 'hunter2', sensitive: true },
    ],
  };
  await page.route(new RegExp(`/api/v2/workspaces/${environment.id}[?]`), async (route) => {
    const response = await route.fetch();
    const { latest_build: build, ...body } = await response.json();
    const resources = [resource, { ...resource, id: 'r-2', name: 'unseen', hide: true }];
    await route.fulfill({ response, json: { ...body, latest_build: { ...build, resources } } });
  });
  await page.getByRole('link', { name: dev }).click();
  const card = page.locator('.panel', { hasText: 'aws_instance' });
  await card.getByText('10.1.2.3').waitFor();
  expect(await page.getByText(/hunter2|unseen/).count()).toBe(0);
  await card.getByRole('button', { name: 'Show' }).click();
  await card.getByText('hunter2').waitFor();
});

it('the workspaces of environments are listed on request, and an environment is found by name with the keyboard', async () => {
  const { attributes } = await client.createWorkspace(organization, newName('own'));
  const page = await visit(`/app/${organization}/workspaces`);
  const rows = page.getByRole('list', { name: 'Workspaces' });
  const managed = rows.getByRole('listitem').filter({ hasText: new RegExp(`-${dev}-[0-9a-f]{8}`) });
  await rows.getByText(attributes.name, { exact: true }).waitFor();
  await page.getByText(/of environments and templates/).waitFor();
  expect(await managed.count()).toBe(0);
  await page.getByRole('button', { name: 'Show workspaces of environments' }).click();
  await managed.getByText(/^environment \S+\/\S+$/).waitFor();
  await page.getByRole('button', { name: 'Hide workspaces of environments' }).click();
  await managed.waitFor({ state: 'detached' });
  await rows.getByText(attributes.name, { exact: true }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').fill(dev);
  await page.getByRole('option', { name: `${dev} environment` }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: dev }).waitFor();
});

it('an environment gets a schedule for start and stop', async () => {
  const page = await visit(path());
  await page.getByRole('button', { name: 'Change schedule' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Start', { exact: true }).selectOption('weekly');
  await dialog.getByLabel('Time', { exact: true }).fill('09:30');
  await dialog.getByLabel('Time zone').fill('Mars/Crater');
  await dialog.getByLabel('Stop after').fill('8h30m');
  await dialog.getByRole('button', { name: 'Save schedule' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Time zone').fill('Europe/Dublin');
  await dialog.getByRole('button', { name: 'Save schedule' }).click();
  const schedule = page.getByRole('region', { name: 'Schedule' });
  await schedule.getByText('09:30, Mon–Fri (Europe/Dublin)').waitFor();
  await schedule.getByText('8h30m after start').waitFor();
  expect(await environmentsApi('GET', `/workspaces/${environment.id}`)).toMatchObject({
    autostart_schedule: 'CRON_TZ=Europe/Dublin 30 9 * * 1,2,3,4,5',
    ttl_ms: 8.5 * 3_600_000,
  });
});

it('an environment is stopped, started, updated to a promoted version and deleted, and then its template', async () => {
  const [tpl, name] = [shortName('tpl'), shortName('new')];
  const template = await pushTemplate(tpl, { 'main.tf': withoutProvider });
  await createEnvironment(template.id, name);
  const at = `/app/${organization}/templates/${template.id}`;
  const page = await visit(`/app/${organization}/environments`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('link', { name }).click();
  await seesStatus(page, 'running');
  await expect.poll(() => page.title()).toBe(`running: ${name} · stepform`);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await dialog.getByRole('button', { name: 'Stop environment' }).click();
  await seesStatus(page, 'stopped');
  await page.getByLabel('Log of build 2').getByText('Destruction complete').waitFor();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await dialog.getByRole('button', { name: 'Start environment' }).click();
  await seesStatus(page, 'running');
  await page.getByLabel('Log of build 3').getByText('Creation complete').first().waitFor();
  await page.getByRole('link', { name: 'View run' }).click();
  await seesStatus(page, 'Applied');
  // Its workspace names the environment that it belongs to.
  await page.getByRole('navigation', { name: 'You are here' }).getByRole('link').last().click();
  await page.getByText(/^environment \S+\/\S+$/).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Environments' }).waitFor();
  expect(await page.getByRole('button', { name: 'Start new run' }).count()).toBe(0);

  await pushVersion({ 'main.tf': `${withoutProvider}# changed\n` }, 'v2', template.id);
  await page.goto(`/app/${organization}/templates`);
  await page.getByRole('link', { name: tpl }).click();
  await page.getByRole('button', { name: 'Promote v2' }).click();
  await dialog.getByRole('button', { name: 'Promote version' }).click();
  await page.getByRole('button', { name: 'Promote v1' }).waitFor();
  await page.getByRole('list', { name: 'Environments' }).getByRole('link', { name }).click();
  await page.getByText('outdated', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Update', exact: true }).click();
  await dialog.getByRole('button', { name: 'Update environment' }).click();
  // It stops, and starts again.
  await page.getByText('outdated', { exact: true }).waitFor({ state: 'detached', timeout: 100_000 });
  await seesStatus(page, 'running', 60_000);

  await page.goto(at);
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await dialog.getByLabel('Display name').fill('For trials');
  await dialog.getByLabel('Stop after').fill('soon');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('write hours and minutes').waitFor();
  await dialog.getByLabel('Stop after').fill('8h30m');
  await dialog.getByLabel('Require the active version').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'For trials' }).waitFor();
  await page.getByText('8 h 30 min').waitFor();
  await page.getByText('the active one only').waitFor();
  await page.getByText('allowed', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.getByRole('button', { name: 'Delete template' }).click();
  await dialog.getByText('All workspaces must be deleted before a template can be removed.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('list', { name: 'Environments' }).getByRole('link', { name }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
  await dialog.getByRole('button', { name: 'Delete environment' }).click();
  await seesStatus(page, 'deleted');
  await page.goto(at);
  await page.getByText('No environments of this template').waitFor();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.getByRole('button', { name: 'Delete template' }).click();
  await page.getByRole('heading', { name: 'Templates' }).waitFor();
  await expect.poll(() => page.getByText('For trials').count()).toBe(0);
}, 300_000);

it('every environment view is accessible on every screen', async () => {
  const views = {
    environments: { path: `/app/${organization}/environments`, ready: 'last built' },
    environment: { path: path(), ready: 'Creation complete' },
    'its schedule': { path: path(), ready: 'Creation complete', open: 'Change schedule' },
    templates: { path: `/app/${organization}/templates`, ready: tpl },
    template: { path: `/app/${organization}/templates/${template.id}`, ready: 'active' },
    'new environment': {
      path: `/app/${organization}/templates/${template.id}`,
      ready: 'active',
      open: 'Create environment',
    },
  };
  const page = await visit('/');
  const wrong: string[] = [];
  for (const [name, view] of Object.entries(views)) {
    await openView(page, view);
    wrong.push(...(await wrongWith(page, name, 'open' in view)));
    if (process.env.SCREENSHOTS) await picture(page, process.env.SCREENSHOTS, name);
  }
  expect(wrong).toEqual([]);
});

it('templates are offered to users with permission to create them', async () => {
  const name = newName('org');
  await client.create('/organizations', 'organizations', { name, email: 'a@example.test' });
  const page = await visit(`/app/${name}/workspaces`);
  const side = page.getByRole('navigation', { name: 'Organization' });
  // The template's owner can create the first environment.
  await side.getByRole('link', { name: 'Environments' }).click();
  await side.getByRole('link', { name: 'Templates' }).click();
  await page.getByText('No templates yet').waitFor();
});
