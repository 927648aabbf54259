import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import type { Route } from '#environments/host/route.ts';
import { hostileTexts } from '#test/fuzz/random.ts';
import { actingAs } from '#test/support/api.ts';
import { startEnvironments } from './support.ts';

/** Every route of the environments' API: called by users without access, and with arbitrary JSON and paths. */

const world = await startEnvironments();
const allRoutes = async (): Promise<Route[]> => {
  const files = globSync('functions/environments/**/{*routes,create}.ts');
  const modules = await Promise.all(files.map((file) => import(resolve(file))));
  const lists = modules.flatMap((module) => Object.values(module)).filter(Array.isArray);
  return [...new Set(lists.flat())].filter((route) => Object.hasOwn(route, 'answer'));
};

const tokensOfOthers = async (): Promise<Record<string, string>> => {
  const { stateTokenOf } = await import('#resources/runs/state-tokens.ts');
  const { issueToken } = await import('#resources/users/tokens.ts');
  const { api } = world;
  const pool = (await api.post('organizations/acme/agent-pools', { name: 'a-pool' })).body.data.id;
  const agent = await issueToken({
    kind: 'agent',
    userId: pool,
    description: '',
    expiredAt: null,
    organization: 'acme',
  });
  return {
    none: '',
    garbage: 'sfu_x',
    state: stateTokenOf('run-1', 'plan', 'x'),
    agent: agent.secret,
  };
};

const routes = await allRoutes();
const template = await world.addTemplate({ name: 'the-template' });
const { api, members } = world;
const removed = await members.withLevel('acme', 'write');
const id = await world.running(template, { name: 'the-environment' }, { token: removed.token });
const { username } = (await world.call('GET', '/users/me', { token: removed.token })).body;
const build = await world.latest(id);
const groups = (await world.call('GET', '/organizations/acme/groups')).body;
/** By the name of the path parameter. */
const ids: Record<string, string> = {
  workspace: id,
  template: template.id,
  version: template.activeVersionId,
  build: build.id,
  user: username,
  organization: 'acme',
  group: groups[0].id,
  name: 'the-environment',
  number: '1',
  file: build.fileId,
  job: template.activeVersionId,
  key: 'at-1',
};
const { removeMember } = await import('#resources/users/memberships.ts');
await removeMember({ organization: 'acme', userId: removed.id });
const stranger = await members.newUser('stranger');
await actingAs(api, stranger.token).post('organizations', { name: 'elsewhere', email: 'a@b.test' });
const audit = await api.post('organizations/acme/authentication-token?token=audit-trails', {});
const outsiders = {
  'the owner of another organization': stranger.token,
  'the environment’s owner, after leaving': removed.token,
  'the audit trail’s reader': audit.body.data.attributes.token,
  'a member of no team': (await members.member('acme')).token,
};
/** Tokens that this API does not accept. */
const others = await tokensOfOthers();
const pathOf = ({ path }: Route, values = ids): string =>
  path.replace(/^\/api\/v2/, '').replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? 'x'));

const guarded = () => routes.filter(({ access }) => access === 'user');

it('the API answers 401 to tokens that it does not accept', async () => {
  expect(guarded().length).toBeGreaterThan(60);
  const wrong: string[] = [];
  for (const [kind, token] of Object.entries(others)) {
    for (const route of guarded()) {
      const { status } = await world.call(route.method, pathOf(route), { token });
      if (status !== 401) wrong.push(`${kind}: ${route.method} ${route.path} ${status}`);
    }
  }
  expect(wrong).toEqual([]);
});

it('the API shows outsiders no environments and templates, and changes nothing for them', async () => {
  const before = JSON.stringify([
    await world.environmentOf(ids.workspace ?? ''),
    await world.latest(ids.workspace ?? ''),
  ]);
  const secrets = ['workspace', 'version', 'build', 'template', 'name'].map((name) => ids[name] ?? '');
  const wrong: string[] = [];
  for (const [kind, token] of Object.entries(outsiders)) {
    for (const route of guarded()) {
      const { status, body } = await world.call(route.method, pathOf(route), { token, body: {} });
      const what = `${kind}: ${route.method} ${route.path} ${status}`;
      const named = /\{(workspace|template|version|build|file|group)\}/.test(route.path);
      if (named && (status < 400 || status >= 500)) wrong.push(what);
      const text = JSON.stringify(body ?? '');
      if (status < 300 && secrets.some((secret) => text.includes(secret))) wrong.push(`${what} ${text.slice(0, 200)}`);
    }
  }
  expect(wrong).toEqual([]);
  const after = [await world.environmentOf(ids.workspace ?? ''), await world.latest(ids.workspace ?? '')];
  expect(JSON.stringify(after)).toBe(before);
});

const bodies = ['null', '[]', '"x"', '1', '{', '{"name":{}}', '{"__proto__":{"a":1}}', `${'['.repeat(5000)}`, '\0'];

it('the API has no internal error for arbitrary input', async () => {
  const wrong: string[] = [];
  const texts = hostileTexts.filter((text) => text.isWellFormed() && text !== '').slice(0, 40);
  for (const [turn, route] of routes.entries()) {
    const tries = [
      ...bodies.map((body) => ({ path: pathOf(route), body })),
      ...texts.flatMap((text, i) => {
        if ((i + turn) % 5) return [];
        const values = Object.fromEntries(Object.keys(ids).map((name) => [name, text]));
        const query = ['q', 'limit', 'after', 'since', 'expect_status', 'format'].map(
          (name) => `${name}=${encodeURIComponent(text)}`,
        );
        const value = JSON.stringify({
          name: text,
          template_id: text,
          transition: text,
          deadline: text,
          schedule: text,
        });
        return [
          { path: pathOf(route, values), body: value },
          { path: `${pathOf(route)}?${query[(i + turn) % query.length]}`, body: value },
        ];
      }),
    ];
    for (const { path, body } of tries) {
      const answer = await world.call(route.method, path, route.method === 'GET' ? {} : { body });
      if (answer.status >= 500) wrong.push(`${route.method} ${path} ${body.slice(0, 100)} ${answer.status}`);
    }
  }
  expect(wrong).toEqual([]);
});
