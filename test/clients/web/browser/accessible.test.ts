import { beforeAll, expect, it } from 'vitest';
import { moduleTabs, type Place, placeOf, tabs } from '#clients/client/page-addresses.ts';
import { wrongWith } from './support/accessibility.ts';
import { newPage, visit } from './support/reader.ts';
import { everyView, openView, picture, type View } from './support/views.ts';

/**
 * Checks every view by axe's rules for WCAG 2.2 AA, dark and narrow, and those with most colors light and wide, too.
 * `SCREENSHOTS=folder`: with pictures.
 */

const folder = process.env.SCREENSHOTS;
let shown: Record<string, View>;

beforeAll(async () => {
  shown = await everyView();
});

/** The test file that checks each view: a new view has to be added. */
const views: Record<
  Place['view'],
  'here' | 'environments.test.ts' | 'queries.test.ts' | 'registry.test.ts' | 'version-control.test.ts'
> = {
  home: 'here',
  tokens: 'here',
  'new-organization': 'here',
  workspaces: 'here',
  overview: 'here',
  queue: 'here',
  projects: 'here',
  explorer: 'here',
  environments: 'environments.test.ts',
  templates: 'environments.test.ts',
  modules: 'here',
  providers: 'here',
  'variable-sets': 'here',
  'run-tasks': 'here',
  'policy-sets': 'here',
  'agent-pools': 'here',
  'version-control': 'version-control.test.ts',
  teams: 'here',
  members: 'here',
  'audit-trail': 'here',
  'organization-settings': 'here',
  'ip-allowlists': 'here',
  'ip-allowlist': 'here',
  'variable-set': 'here',
  'policy-set': 'here',
  project: 'here',
  team: 'here',
  'agent-pool': 'here',
  environment: 'environments.test.ts',
  template: 'environments.test.ts',
  workspace: 'here',
  run: 'here',
  commit: 'version-control.test.ts',
  state: 'here',
  query: 'queries.test.ts',
  module: 'here',
  'test-run': 'registry.test.ts',
  provider: 'here',
  nowhere: 'here',
};

it('this test covers every view', () => {
  const places = Object.values(shown).map(({ path }) => placeOf(path.split('?')[0] ?? ''));
  const here = Object.entries(views).flatMap(([view, where]) => (where === 'here' ? [view] : []));
  expect(new Set(places.map(({ view }) => view))).toEqual(new Set(here));
  const tabsShown = places.flatMap((place) => (place.view === 'workspace' ? [place.tab] : []));
  expect(new Set(tabsShown)).toEqual(new Set(tabs));
  const moduleTabsShown = places.flatMap((place) => (place.view === 'module' ? [place.tab] : []));
  expect(new Set(moduleTabsShown)).toEqual(new Set(moduleTabs));
});

it('every view is accessible, and not wider than the screen', async () => {
  const page = await visit('/');
  const wrong: string[] = [];
  for (const [name, view] of Object.entries(shown)) {
    await openView(page, view);
    wrong.push(...(await wrongWith(page, name, !view.colorful)));
    if (folder) await picture(page, folder, name);
  }
  expect(wrong).toEqual([]);
}, 240_000);

it('sign-in is accessible', async () => {
  const page = await newPage();
  await page.goto('/');
  await page.getByLabel('API token').waitFor();
  expect(await wrongWith(page, 'the way in')).toEqual([]);
});
