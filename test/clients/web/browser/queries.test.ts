import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { operate } from '#test/e2e/support/operator.ts';
import { canQuery, queried } from '#test/e2e/support/terraform-query.ts';
import { until } from '#test/e2e/support/waiting.ts';
import { newWorkspace, resources } from '#test/e2e/support/world.ts';
import { wrongWith } from './support/accessibility.ts';
import { answerQuery } from './support/operator.ts';
import { client, organization, platform, seesStatus, visit } from './support/reader.ts';

/** Runs of `terraform query` on the page. */

const found = (n: number) =>
  JSON.stringify({
    '@level': 'info',
    '@message': `list.aws_instance.all: Result found`,
    '@timestamp': '2026-01-01T00:00:00.000000Z',
    type: 'list_resource_found',
    list_resource_found: {
      address: 'list.aws_instance.all',
      display_name: `web-${n}`,
      resource_type: 'aws_instance',
      identity: { id: `i-${n}`, region: 'eu-central-1' },
      config: `resource "aws_instance" "all_${n}" {\n  ami = "ami-1"\n}`,
      import_config: `import {\n  to = aws_instance.all_${n}\n  identity = { id = "i-${n}" }\n}`,
    },
  });

it('queries are started and listed, and results are searched and copied', async () => {
  operate(platform);
  const workspace = await newWorkspace({ 'terraform-version': 'latest' });
  const { name } = workspace.attributes;
  await client.upload(workspace.id, await packFiles({ 'main.tf': resources(['a']) }));
  const page = await visit(`/app/${organization}/workspaces/${name}`);
  await page.getByRole('link', { name: 'Queries' }).click();
  await page.getByText('No queries yet.').waitFor();
  await page.getByRole('button', { name: 'Run query' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Run query' }).click();
  await page.getByRole('heading', { name: 'Query', exact: true }).waitFor();
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  expect(id).toMatch(/^query-/);
  // The tests' Terraform may be too old for queries, so the test provides its output.
  await until(
    () => client.get(`/queries/${id}`),
    ({ attributes: { status } }) => !['pending', 'queued', 'running'].includes(status),
  );
  await answerQuery(id, Array.from({ length: 300 }, (_, n) => found(n)).join('\n'));

  // The URL that the command line prints.
  await page.goto(`/app/${organization}/${name}/search/${id}`);
  await seesStatus(page, 'finished');
  await page.getByText('300 resources').waitFor();
  expect(await page.locator('.found > li').count()).toBeLessThan(300);
  await page.getByLabel('Search the results').fill('i-257');
  await expect.poll(() => page.locator('.found > li').allInnerTexts()).toHaveLength(1);
  await page.getByText('web-257').click();
  await page.getByText('to = aws_instance.all_257').waitFor();
  expect(await wrongWith(page, 'query')).toEqual([]);

  await page.getByRole('link', { name, exact: true }).click();
  const line = page.getByRole('list', { name: 'Queries' }).getByRole('listitem');
  // Lists render lines when they become visible.
  await expect.poll(() => line.innerText()).toMatch(new RegExp(`${id}[\\s\\S]*finished`));
  expect(await wrongWith(page, 'queries')).toEqual([]);
});

it.skipIf(!canQuery)('the link that terraform query prints opens its results', async () => {
  const { text } = await queried();
  const [, path] = /https:\/\/[^/]+(\/app\/\S+\/search\/query-\w+)/.exec(text) ?? [];
  const page = await visit(path ?? 'no link');
  await page.getByText('2 resources').waitFor();
  await page.getByText('list.listed_file.all').first().waitFor();
  await page.getByRole('button', { name: 'Download configuration' }).waitFor();
});
