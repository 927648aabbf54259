import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { attachPolicy } from '#test/e2e/support/policies.ts';
import { attach, callBack, newTask, startServer } from '#test/e2e/support/run-tasks.ts';
import {
  giveAccess,
  newName,
  newWorkspace,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
} from '#test/e2e/support/world.ts';
import { client, organization, runPath } from './reader.ts';
import { registryViews } from './registry-views.ts';

/** Every view of the page, with content. */

/** Address of the view, and a text that is visible once it is complete. */
export interface View {
  path: string;
  /** Other tests share the organization: the text must not depend on what they change. */
  ready: string | { heading: string };
  /** Button that opens a dialog. */
  open?: string;
  keys?: string;
  ticks?: string;
  unfolds?: string[];
  /** Has colors for statuses, changes, text of logs or charts. */
  colorful?: true;
}

export const everyView = async (): Promise<Record<string, View>> => {
  const workspace = await newWorkspace({ description: 'To be read by everybody' });
  const { name } = workspace.attributes;
  await client.setVariable(workspace.id, { key: 'unused', value: 'x', sensitive: true });
  const files = { 'main.tf': `${resources(['a', 'b'])}\noutput "a" { value = "x" }` };
  const applied = await startRun(workspace, files, { 'auto-apply': true, message: 'Applied already' });
  expect((await untilFinal(applied)).attributes).toMatchObject({ status: 'applied', 'end-reason': null });
  const failed = await startRun(workspace, { 'main.tf': 'resource "terraform_data" "a" {' }, { message: 'Fails' });
  await untilFinal(failed);
  const waiting = await untilConfirmable(
    await startRun(workspace, { 'main.tf': resources(['b', 'c']) }, { message: 'Waits' }),
  );
  const pending = await client.createRun(workspace.id, { message: 'In line' });
  const asking = await runWithTask();
  const [state] = await client.list(
    `/state-versions?filter[organization][name]=${organization}&filter[workspace][name]=${name}`,
  );
  const set = await client.create(`/organizations/${organization}/varsets`, 'varsets', {
    name: newName('set'),
    description: 'For everybody',
  });
  const shared = { key: 'shared-variable', value: 'x', category: 'env' };
  await client.create(`/varsets/${set.id}/relationships/vars`, 'vars', shared);
  const policySet = await attachPolicy(workspace, 'advisory', { description: 'For all who build' });
  const policy = { name: newName('policy'), kind: 'opa', query: 'data.a.deny', description: 'One by one' };
  const loose = await client.create(`/organizations/${organization}/policy-sets`, 'policy-sets', {
    name: newName('set'),
    kind: 'opa',
  });
  await client.create(`/organizations/${organization}/policies`, 'policies', policy, {
    'policy-sets': { data: [{ type: 'policy-sets', id: loose.id }] },
  });
  const byTags = await client.create(`/organizations/${organization}/policy-sets`, 'policy-sets', {
    name: newName('set'),
    kind: 'opa',
    'tag-selectors': [{ 'tag-key': 'not-reserved', 'tag-value': 'x' }],
  });
  const project = await client.create(`/organizations/${organization}/projects`, 'projects', { name: newName('prj') });
  const pool = await client.create(`/organizations/${organization}/agent-pools`, 'agent-pools', {
    name: newName('pool'),
    'organization-scoped': false,
  });
  const allowlist = await client.create(`/organizations/${organization}/cidr-range-lists`, 'cidr-range-lists', {
    name: newName('list'),
    description: 'Draft for the office',
  });
  const range = { range: '2001:db8::/32', description: 'Later', enabled: false };
  await client.create(`/cidr-range-lists/${allowlist.id}/relationships/cidr-ranges`, 'cidr-ranges', range);
  const team = await client.create(`/organizations/${organization}/teams`, 'teams', { name: newName('team') });
  await giveAccess(team, workspace, 'write');
  await client.create(`/workspaces/${workspace.id}/notification-configurations`, 'notification-configurations', {
    name: 'Chat',
    'destination-type': 'generic',
    url: (await startServer()).url,
    enabled: true,
    triggers: ['run:needs_attention'],
  });
  // A user with only one organization is redirected to it.
  await client.create('/organizations', 'organizations', { name: newName('second'), email: 'second@localhost' });
  const at = `/app/${organization}/workspaces/${name}`;
  const settings = `/app/${organization}/settings`;
  return {
    ...(await registryViews()),
    queries: { path: `${at}/queries`, ready: 'No queries yet', open: 'Run query' },
    'organization overview': {
      path: `/app/${organization}/overview`,
      ready: { heading: 'Overview' },
      unfolds: ['As a table'],
      colorful: true,
    },
    organizations: { path: '/', ready: 'New organization' },
    workspaces: { path: `/app/${organization}/workspaces`, ready: name, colorful: true },
    'new workspace': { path: `/app/${organization}/workspaces`, ready: name, open: 'New workspace', colorful: true },
    queue: { path: `/app/${organization}/runs`, ready: { heading: 'Runs' } },
    'variable sets': { path: `/app/${organization}/variable-sets`, ready: 'For everybody' },
    'variable set': { path: `/app/${organization}/variable-sets/${set.id}`, ready: 'shared-variable' },
    projects: { path: `/app/${organization}/projects`, ready: project.attributes.name },
    project: { path: `/app/${organization}/projects/${project.id}`, ready: 'No workspaces yet', open: 'Change' },
    'run tasks': {
      path: `${settings}/run-tasks`,
      ready: 'http://127.0.0.1',
      open: 'New run task',
      ticks: 'Apply to all workspaces',
    },
    'policy sets': { path: `${settings}/policy-sets`, ready: 'For all who build', open: 'New policy set' },
    'policy set with versions': {
      path: `${settings}/policy-sets/${policySet.id}`,
      ready: 'current version',
      colorful: true,
    },
    'policy set of single ones': {
      path: `${settings}/policy-sets/${loose.id}`,
      ready: 'One by one',
      open: 'Add policy',
    },
    'policy set by tags': { path: `${settings}/policy-sets/${byTags.id}`, ready: 'can take it out of this set' },
    teams: { path: `${settings}/teams`, ready: team.attributes.name, open: 'New team' },
    team: { path: `${settings}/teams/${team.id}`, ready: 'such as your CI', open: 'New token' },
    'agent pools': { path: `${settings}/agent-pools`, ready: pool.attributes.name, open: 'New agent pool' },
    'agent pool': { path: `${settings}/agent-pools/${pool.id}`, ready: 'No agents connected', open: 'New token' },
    'IP allowlists': { path: `${settings}/ip-allowlists`, ready: 'Draft for the office', open: 'New IP allowlist' },
    'IP allowlist': { path: `${settings}/ip-allowlists/${allowlist.id}`, ready: 'Not enforced', open: 'Add range' },
    explorer: { path: `/app/${organization}/explorer`, ready: { heading: 'Explorer' } },
    // Events of other tests, which appear meanwhile, would move the list.
    'audit trail': { path: `${settings}/audit-trail?workspace=${workspace.id}`, ready: { heading: 'Audit trail' } },
    members: { path: `${settings}/members`, ready: 'To invite users' },
    'organization settings': { path: `${settings}/general`, ready: { heading: 'Organization token' } },
    health: { path: `${at}/health`, ready: 'No assessments yet' },
    overview: { path: at, ready: 'Current run', colorful: true },
    'new run': { path: at, ready: 'Current run', open: 'Start new run' },
    runs: { path: `${at}/runs`, ready: 'Applied already' },
    resources: { path: `${at}/resources?resource=terraform_data.a`, ready: 'History', colorful: true },
    graph: { path: `${at}/resources?view=graph`, ready: 'Arrows point', colorful: true },
    states: { path: `${at}/states`, ready: 'Serial' },
    state: { path: `${at}/states/${state?.id}`, ready: 'terraform_data.a', colorful: true },
    variables: { path: `${at}/variables`, ready: 'unused', colorful: true },
    'selected workspaces': { path: `/app/${organization}/workspaces`, ready: name, open: 'Select' },
    'new variable': { path: `${at}/variables`, ready: 'unused', open: 'Add variable' },
    settings: { path: `${at}/settings`, ready: team.attributes.name, open: 'Attach a run task' },
    notifications: { path: `${at}/settings`, ready: 'Latest responses', unfolds: ['Latest responses'] },
    'new notification': { path: `${at}/settings`, ready: 'Latest responses', open: 'New notification' },
    'run that applied': { path: runPath(name, applied.id), ready: 'Compare with the previous state', colorful: true },
    'run that failed': { path: runPath(name, failed.id), ready: 'Terraform v', colorful: true },
    'run that waits': { path: runPath(name, waiting.id), ready: 'terraform_data.c', colorful: true },
    'run with a task': {
      path: runPath(asking.workspace, asking.run),
      ready: 'Details of',
      unfolds: ['1 outcome', 'Details of CC-1', 'it is'],
      colorful: true,
    },
    'run in line': { path: runPath(name, pending.id), ready: 'Waiting for Waits' },
    tokens: { path: '/app/settings/tokens', ready: 'Revoke' },
    'new organization': { path: '/app/organizations/new', ready: 'It is part of addresses in configurations' },
    palette: { path: at, ready: 'Current run', keys: 'Control+k', colorful: true },
    nothing: { path: '/app/a/b/c/d/e', ready: 'Page not found' },
  };
};

/** A run that failed by a task, with output. */
const runWithTask = async () => {
  const { task } = await newTask((payload) =>
    callBack(payload, { status: 'failed', message: 'see below', url: 'https://task.test/' }, [
      {
        type: 'task-result-outcomes',
        attributes: {
          'outcome-id': 'CC-1',
          description: 'a public bucket',
          body: '# Why\n\n> it is\n\n| a | b |\n|---|---|\n| 1 | 2 |',
          url: 'https://task.test/1',
          tags: {
            Status: [{ label: 'Denied', level: 'error' }],
            Severity: [{ label: 'High', level: 'warning' }],
            Team: [{ label: 'Network', level: 'info' }, { label: 'Storage' }],
          },
        },
      },
    ]),
  );
  const workspace = await newWorkspace();
  await attach(workspace, task, ['pre_plan']);
  const run = await untilFinal(await startRun(workspace, { 'main.tf': resources(['a']) }, { message: 'Asks' }));
  return { workspace: workspace.attributes.name as string, run: run.id };
};

/** Follows the path without a new load, which would take half of the processor time of a view's check. */
const goWithin = (page: Page, path: string): Promise<void> =>
  page.evaluate((path) => {
    history.pushState(null, '', path);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);

/** Opens the view in the loaded page, anew if it is open already, and unfolds all of it. */
export const openView = async (page: Page, { path, ready, open, keys, ticks, unfolds }: View): Promise<void> => {
  await goWithin(page, '/app/a/b/c/d/e');
  await page.getByText('Page not found').waitFor();
  await goWithin(page, path);
  const sign = typeof ready === 'string' ? page.getByText(ready) : page.getByRole('heading', { name: ready.heading });
  await sign.first().waitFor();
  await expect.poll(() => page.locator('main .skeleton').count()).toBe(0);
  if (open) await page.getByRole('main').getByRole('button', { name: open }).click();
  if (keys) {
    await page.keyboard.press(keys);
    await page.getByRole('dialog').getByRole('option').first().waitFor();
  }
  if (ticks) await page.getByRole('dialog').getByLabel(ticks).check();
  for (const unfold of unfolds ?? []) for (const folded of await page.getByText(unfold).all()) await folded.click();
};

const widths = [1440, 1024, 390];

/** Pictures of the open view, light and dark, at three widths, for manual review. */
export const picture = async (page: Page, folder: string, name: string): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of widths) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const path = `${folder}/${name.replaceAll(' ', '-')}-${width}-${colorScheme}.png`;
      await page.screenshot({ path, fullPage: true, animations: 'disabled' });
    }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 900 });
};
