import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import type { Route } from '#environments/host/route.ts';
import { uniqueName } from '#test/support/api.ts';
import { startEnvironments } from './support.ts';

/** Environments of a renamed organization have its new name, and keep their ids. */

const world = await startEnvironments();
const { api } = world;

const reads = async (): Promise<Route[]> => {
  const modules = await Promise.all(
    globSync('functions/environments/**/{*routes,create}.ts').map((file) => import(resolve(file))),
  );
  const lists = modules.flatMap((module) => Object.values(module)).filter(Array.isArray);
  return [...new Set(lists.flat())].filter((route) => Object.hasOwn(route, 'answer') && route.method === 'GET');
};

it('no read of environments contains the former name', async () => {
  const from = uniqueName('former').replaceAll('-', 'Q');
  await api.post('organizations', { name: from, email: 'a@b.test' });
  const { getOrganization } = await import('#resources/organizations/records.ts');
  const home = await getOrganization(from);
  const template = await world.addTemplate({ organization: from, projectId: home?.defaultProjectId ?? '' });
  const id = await world.running(template, { name: 'the-environment' });
  const build = await world.latest(id);
  const { username } = (await world.call('GET', '/users/me')).body;
  const ids: Record<string, string> = {
    workspace: id,
    template: template.id,
    version: template.activeVersionId,
    build: build.id,
    user: username,
    organization: from,
    name: 'the-environment',
    number: '1',
    file: build.fileId,
    job: template.activeVersionId,
  };
  const ask = (path: string, organization: string) =>
    world.call(
      'GET',
      path
        .replace(/^\/api\/v2/, '')
        .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent({ ...ids, organization }[name] ?? 'x')),
    );
  const routes = await reads();
  const before = new Map<string, number>();
  for (const { path } of routes) before.set(path, (await ask(path, from)).status);
  expect([...before.values()].filter((status) => status === 200).length).toBeGreaterThan(25);
  const to = uniqueName('newname');
  expect((await api.patch(`organizations/${from}`, { name: to })).status).toBe(200);
  const wrong: unknown[] = [];
  for (const { path } of routes) {
    const { status, body } = await ask(path, to);
    const text = JSON.stringify(body);
    const at = text.indexOf(from);
    // The audit trail keeps what happened under the former name.
    if (status !== before.get(path) || (at >= 0 && !path.endsWith('/audit'))) {
      wrong.push([path, before.get(path), status, text.slice(Math.max(0, at - 80), at + 80)]);
    }
  }
  expect(wrong).toEqual([]);
  for (const path of ['/organizations/{organization}', '/organizations/{organization}/templates']) {
    expect((await ask(path, from)).status).toBe(404);
  }
  const found = await world.call('GET', `/workspaces?q=${encodeURIComponent(`organization:${to}`)}`);
  expect(found.body.workspaces.map((one: { id: string }) => one.id)).toEqual([id]);
});
