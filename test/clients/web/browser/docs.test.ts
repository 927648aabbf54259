import { expect, it } from 'vitest';
import { wrongWith } from './support/accessibility.ts';
import { newPage, organization, visit } from './support/reader.ts';

/** The documentation that the platform serves, under its policy: every complaint of the browser fails the test. */

it('the page links to the documentation, which opens beside it', async () => {
  const page = await visit(`/app/${organization}/workspaces`);
  const [docs] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('banner').getByRole('link', { name: 'Documentation' }).click(),
  ]);
  await docs.getByRole('heading', { name: 'Documentation', exact: true }).waitFor();
  expect(new URL(docs.url()).pathname).toBe('/docs/index.html');
});

it('a reader without an account finds a page by searching, with keys', async () => {
  const page = await newPage();
  await page.goto('/docs');
  await page.getByRole('heading', { name: 'Documentation', exact: true }).waitFor();
  await page.locator('#search:enabled').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('atlantis.yaml');
  await page.locator('#results').getByRole('link', { name: 'From Atlantis' }).first().waitFor();
  expect(await wrongWith(page, 'results')).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'From Atlantis', level: 1 }).waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current=page]').waitFor();
  await page.getByRole('searchbox').fill('qqqqxx');
  await page.getByText('Nothing found for “qqqqxx”').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('#results').waitFor({ state: 'hidden' });
});

it.each(['index', 'api', 'concepts', 'connect', 'tutorials/one-machine'])(
  'the page %s is accessible, dark and narrow, and that with diagrams light and wide too',
  async (name) => {
    const page = await newPage();
    await page.goto(`/docs/${name}.html`);
    await page.locator('#search:enabled').waitFor();
    expect(await wrongWith(page, name, name !== 'concepts')).toEqual([]);
  },
);

it('shows drawings and photographs, and diagrams in the colours of the page', async () => {
  const page = await newPage();
  await page.goto('/docs/connect.html');
  const sizes = await page.locator('main img').evaluateAll(async (images) => {
    await Promise.all(images.map((image) => (image as HTMLImageElement).decode()));
    return images.map((image) => (image as HTMLImageElement).naturalWidth);
  });
  expect(sizes.length).toBeGreaterThan(10);
  for (const width of sizes) expect(width).toBeGreaterThan(300);
  await page.goto('/docs/concepts.html');
  const fillOf = (colorScheme: 'light' | 'dark') =>
    page.emulateMedia({ colorScheme }).then(() =>
      page
        .locator('main svg text')
        .first()
        .evaluate((text) => getComputedStyle(text).fill),
    );
  expect(await fillOf('light')).not.toBe(await fillOf('dark'));
});
