import { afterAll, describe, expect, it, vi } from 'vitest';
import type { Route } from '#api/route.ts';
import { type Api, actingAs, startApi, uniqueName } from '#test/support/api.ts';
import { freeze } from '#test/support/frozen-table.ts';
import { memberHelpers } from '#test/support/members.ts';
import { type Caller, makeCallers } from '#test/support/roles.ts';
import { bodyIn, fillPath, makeWorld, namedIn, type World } from '#test/support/world.ts';

// Each asks every route.
vi.setConfig({ testTimeout: 400_000 });

/**
 * Every route, called by every role in the permission table, with foreign ids: of another organization, of a deleted
 * one, of another kind, and of hidden resources; in the path, the body, filters and includes. The table is frozen
 * meanwhile (support/frozen-table.ts): an attempted write becomes an internal error, so that only a 4xx response
 * proves that the request revealed and changed nothing.
 */

const organizationOf = async (name: string): Promise<{ things: World; as: Api }> => {
  const stranger = await (await memberHelpers()).newUser(`owner-of-${name}`);
  const as = actingAs(api, stranger.token);
  const response = await as.post('organizations', { name, email: 'owner@b.test' });
  if (response.status !== 201) throw new Error(JSON.stringify(response.body));
  return { things: await makeWorld(as, name), as };
};

/** Replaces each id by one of another kind. */
const shuffled = (things: World): World => {
  const names = Object.keys(things);
  return Object.fromEntries(names.map((name, i) => [name, things[names[(i + 7) % names.length] ?? ''] ?? '']));
};

const api = await startApi();
const { routes } = await import('#public-api/all-routes.ts');
const guarded: Route[] = routes.filter(({ access, finder }) => access !== 'anyone' && finder);
const world = await makeWorld(api);
/** In the same organization, in a project on which the callers have no grants. */
const hidden = await makeWorld(api);
const elsewhere = await organizationOf('elsewhere');
const gone = await organizationOf('gone');
const callers = await makeCallers(api, world);
const { finishRun } = await import('#lifecycle/phases/finish.ts');
await finishRun(gone.things.run ?? '', 'Canceled');
const { data: left } = (await gone.as.get('organizations/gone/workspaces')).body;
for (const path of [...left.map(({ id }: { id: string }) => `workspaces/${id}`), 'organizations/gone']) {
  const deleted = await gone.as.call('DELETE', path);
  if (deleted.status >= 300) throw new Error(JSON.stringify(deleted.body));
}
const foreign: Record<'of another organization' | 'of a deleted organization' | 'of another kind', World> = {
  'of another organization': elsewhere.things,
  'of a deleted organization': gone.things,
  'of another kind': shuffled(world),
};
const ids = [elsewhere.things, gone.things].flatMap((things) => Object.values(things));
/** Ids that the API never shows to members of the organization. */
const secrets: string[] = ids.filter((id) => /^[a-z]+-[A-Za-z0-9]{16}/.test(id));
const frozen = freeze();
afterAll(() => frozen?.thaw());

const ofElsewhere = ({ role }: Caller) => role === 'owner elsewhere';
/** The owner tries all of them; each other caller tries one, so that every route gets each id from some caller. */
const someOf = <T>(all: T[], caller: Caller, turn: number): T[] =>
  caller.role === 'owner' ? all : all.slice((callers.indexOf(caller) + turn) % all.length).slice(0, 1);

/** The owner asks all of them; every fifth other caller asks each, so that each gets every kind of id from some. */
const asks = (caller: Caller, turn: number): boolean =>
  caller.role === 'owner' || (callers.indexOf(caller) + turn) % 5 === 0;

const isRefused = (status: number): boolean => status >= 400 && status < 500;

/** Foreign ids in a response; links repeat ids of the request. */
const leaked = (body: { data?: unknown; included?: unknown } | string | undefined): string[] => {
  const text = typeof body === 'string' ? body : JSON.stringify([body?.data, body?.included]);
  return secrets.filter((id) => text.includes(id));
};

describe('ids that select the subject of a route', () => {
  it('are 404 when they belong to another or a deleted organization or are of another type', async () => {
    const wrong: string[] = [];
    for (const caller of callers) {
      if (ofElsewhere(caller)) continue;
      for (const [turn, { method, path }] of guarded.entries()) {
        if (!asks(caller, turn)) continue;
        for (const [kind, things] of someOf(Object.entries(foreign), caller, turn)) {
          const { query } = namedIn(things);
          const url = `${fillPath(path, things)}?${query}`;
          const { status } = await api.call(method, url, { token: caller.token, body: bodyIn(path, things) });
          if (!isRefused(status)) wrong.push(`${caller.role}: ${method} ${path} ${kind} ${status}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('are 404 when they belong to another parent in the same organization', async () => {
    const nested = guarded.filter(({ path }) => (path.match(/\{\w+\}/g) ?? []).length > 1);
    expect(nested.length).toBeGreaterThan(5);
    const wrong: string[] = [];
    for (const caller of callers) {
      for (const [turn, { method, path }] of nested.entries()) {
        if (!asks(caller, turn)) continue;
        for (const things of someOf([...Object.values(foreign), hidden], caller, turn)) {
          const [first = ''] = path.match(/^.*?\{\w+\}/) ?? [];
          const url = fillPath(first, world) + fillPath(path, things).slice(fillPath(first, things).length);
          const { status } = await api.call(method, url, { token: caller.token, body: bodyIn(path, world) });
          // A workspace or module found by name may be one that the caller sees.
          const byName = things === hidden && /\{(organization|namespace)\}/.test(path);
          if (!isRefused(status) && !byName) wrong.push(`${caller.role}: ${method} ${path} ${status}`);
        }
      }
    }
    expect([...new Set(wrong)]).toEqual([]);
  });
});

type Related = [type: string, thing: string, many?: 'many'];

interface Body {
  method: string;
  path: string;
  attributes?: () => object;
  /** By name: type, the world's resource, and whether it is a list. */
  relationships?: Record<string, Related>;
  /** The body is a list of such resources. */
  list?: Related;
  /** Other relationships that the request needs. */
  needs?: Record<string, Related>;
}

const named = (more: object = {}) => ({ attributes: () => ({ name: uniqueName('new'), ...more }) });
const granted = { attributes: () => ({ access: 'read' }) };
const workspace: Related = ['workspaces', 'workspace'];
const project: Related = ['projects', 'project'];
const team: Related = ['teams', 'team'];
const policy: Related = ['policies', 'policy'];
const workspaces: Related = ['workspaces', 'workspace', 'many'];
const projects: Related = ['projects', 'project', 'many'];
const allowed = { 'allowed-workspaces': workspaces, 'allowed-projects': projects };

const post = (path: string, relationships: Record<string, Related>, more: Partial<Body> = {}): Body => ({
  ...{ method: 'POST', path, relationships },
  ...more,
});
const patch = (path: string, relationships: Record<string, Related>): Body => ({
  method: 'PATCH',
  path,
  relationships,
});
const list = (path: string, list: Related): Body => ({ method: 'POST', path, list });

/** Every relationship in a request body. */
const bodies: Body[] = [
  post('organizations/{organization}/workspaces', { project }, named()),
  patch('workspaces/{workspace}', { project }),
  post('runs', { workspace }),
  post(
    'runs',
    { 'configuration-version': ['configuration-versions', 'configuration-versions'] },
    { needs: { workspace } },
  ),
  post('team-workspaces', { team }, { ...granted, needs: { workspace } }),
  post('team-workspaces', { workspace }, { ...granted, needs: { team } }),
  post('team-projects', { project }, { ...granted, needs: { team } }),
  post('team-projects', { team }, { ...granted, needs: { project } }),
  post('organizations/{organization}/varsets', { parent: project, workspaces, projects }, named()),
  patch('varsets/{varset}', { workspaces, projects }),
  list('varsets/{varset}/relationships/workspaces', workspace),
  list('varsets/{varset}/relationships/projects', project),
  post(
    'organizations/{organization}/policies',
    { 'policy-sets': ['policy-sets', 'policySet', 'many'] },
    named({ kind: 'opa', query: 'data.a.deny' }),
  ),
  post(
    'organizations/{organization}/policy-sets',
    {
      policies: ['policies', 'policy', 'many'],
      ...{ workspaces, projects, 'workspace-exclusions': workspaces, 'project-exclusions': projects },
    },
    named({ kind: 'opa' }),
  ),
  list('policy-sets/{policySet}/relationships/policies', policy),
  list('policy-sets/{policySet}/relationships/workspaces', workspace),
  list('policy-sets/{policySet}/relationships/projects', project),
  post('organizations/{organization}/agent-pools', { ...allowed, 'excluded-workspaces': workspaces }, named()),
  patch('agent-pools/{pool}', allowed),
  list('projects/{project}/relationships/workspaces', workspace),
  list('workspaces/{workspace}/relationships/remote-state-consumers', workspace),
  list('tags/{tag}/relationships/workspaces', workspace),
  list('teams/{team}/relationships/organization-memberships', ['organization-memberships', 'membership']),
];

const manyOf = (identifier: object, many?: 'many') => ({ data: many ? [identifier] : identifier });

interface Asked {
  what: string;
  method: string;
  url: string;
  body: object;
}

/** One request per relationship, with the id of that resource under that type. */
const requests = (from: World, typed: (type: string) => string | undefined): Asked[] =>
  bodies.flatMap(({ method, path, attributes = () => ({}), relationships = {}, list, needs = {} }): Asked[] => {
    const url = fillPath(path, world);
    const needed = Object.fromEntries(
      Object.entries(needs).map(([name, [type, thing]]) => [name, { data: { type, id: world[thing] } }]),
    );
    if (list) {
      const [type, thing] = list;
      return [{ what: `${method} ${path}`, method, url, body: { data: [{ type: typed(type), id: from[thing] }] } }];
    }
    return Object.entries(relationships).map(([name, [type, thing, many]]) => ({
      what: `${method} ${path} ${name}`,
      method,
      url,
      body: {
        data: {
          attributes: attributes(),
          relationships: { ...needed, [name]: manyOf({ type: typed(type), id: from[thing] }, many) },
        },
      },
    }));
  });

describe('ids in relationships of a body', () => {
  const asIs = (type: string) => type;
  const answers = async (requests: Asked[], token: string | null): Promise<[string, number][]> => {
    const all: [string, number][] = [];
    for (const { what, method, url, body } of requests) {
      all.push([what, (await api.call(method, url, { token, body })).status]);
    }
    return all;
  };

  it('are accepted when they belong to the caller (control)', async () => {
    const refused = (await answers(requests(world, asIs), api.token)).filter(([, status]) => isRefused(status));
    // A run trigger of a workspace on itself, and a workspace that is already in its project, are conflicts. The
    // world's policy set has versions, and so no individual policies.
    const accepted = [
      'POST organizations/{organization}/policies policy-sets',
      'POST policy-sets/{policySet}/relationships/policies',
      'POST team-workspaces',
      'POST team-projects',
      'POST teams/{team}/relationships',
    ];
    expect(refused.filter(([what]) => !accepted.some((one) => what.startsWith(one)))).toEqual([]);
  });

  it('change nothing when they belong to another or a deleted organization or are of another type', async () => {
    const wrong: string[] = [];
    for (const [turn, caller] of callers.entries()) {
      if (ofElsewhere(caller)) continue;
      for (const [kind, things] of someOf(Object.entries(foreign), caller, turn)) {
        for (const [what, status] of await answers(requests(things, asIs), caller.token)) {
          if (!isRefused(status)) wrong.push(`${caller.role}: ${what} ${kind} ${status}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each(['project', 'x', 'runs'])('are rejected by name when their type is wrong: %s', async (type) => {
    const unnamed: string[] = [];
    for (const { what, method, url, body } of requests(world, () => type)) {
      const { status, body: answer } = await api.call(method, url, { body });
      const { pointer = '' } = answer?.errors?.[0]?.source ?? {};
      if (status !== 422 || !pointer.endsWith('/type')) unnamed.push(`${what} ${status} ${pointer}`);
    }
    expect(unnamed).toEqual([]);
  });

  it('change nothing when the caller cannot see the resource', async () => {
    const wrong: string[] = [];
    const bounded = callers.filter(({ role }) => /^(workspace|project) |^member$|^no token$|has nothing/.test(role));
    expect(bounded.length).toBeGreaterThan(20);
    for (const caller of bounded) {
      for (const [what, status] of await answers(requests(hidden, asIs), caller.token)) {
        // All callers see visible teams and their members.
        if (!isRefused(status) && !what.endsWith(' team') && !what.startsWith('POST teams/')) {
          wrong.push(`${caller.role}: ${what} ${status}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

const reading = (): Route[] => guarded.filter(({ method }) => method === 'GET');

/** Clients retry these for a run that has only started. */
const notYet = /\/plan(s\/\{plan\})?\/json-output-redacted$|\/cost-estimates\/\{estimate\}\/output$/;

it('filters by ids of another or a deleted organization reveal nothing about it', async () => {
  const wrong: string[] = [];
  for (const caller of callers) {
    if (ofElsewhere(caller) || caller.token === null) continue;
    const organizations = [foreign['of another organization'], foreign['of a deleted organization']];
    for (const things of someOf(organizations, caller, 0)) {
      const own = new URLSearchParams(namedIn(world).query);
      const query = new URLSearchParams(namedIn(things).query);
      for (const name of ['team', 'user', 'task', 'pool', 'varset', 'policySet', 'run'])
        query.set(`filter[${name}][id]`, things[name] ?? '');
      query.set('filter[workspace_names]', things.name ?? '');
      query.set('search[name]', things.name ?? '');
      for (const [turn, { path }] of reading().entries()) {
        if (!asks(caller, turn)) continue;
        // The test of subjects covers routes whose query names the subject.
        if (!path.includes('{')) continue;
        query.set('filter[organization][name]', own.get('filter[organization][name]') ?? '');
        const { status, body } = await api.call('GET', `${fillPath(path, world)}?${query}`, { token: caller.token });
        if (status === 200 && leaked(body).length) wrong.push(`${caller.role}: ${path} ${leaked(body)}`);
        if (status >= 500 && !(status === 503 && notYet.test(path))) wrong.push(`${caller.role}: ${path} ${status}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});

it('the API accepts relationships as they were read', async () => {
  const wrong: string[] = [];
  const changing = new Set(guarded.filter(({ method }) => method === 'PATCH').map(({ path }) => path));
  const both = reading().filter(({ path }) => changing.has(path));
  expect(both.length).toBeGreaterThan(10);
  for (const { path } of both) {
    const url = fillPath(path, world);
    const { relationships: shown } = (await api.get(url)).body.data;
    const withData = Object.entries<{ data?: unknown }>(shown ?? {}).filter(([, { data }]) => data !== undefined);
    const relationships = Object.fromEntries(withData);
    const { status, body } = await api.call('PATCH', url, { body: { data: { relationships } } });
    const { pointer = '' } = body?.errors?.[0]?.source ?? {};
    if (status === 422 && pointer.startsWith('/data/relationships')) wrong.push(`${path} ${pointer}`);
  }
  expect(wrong).toEqual([]);
});

it('a response includes only resources that the caller can read at their own route', async () => {
  const { query } = namedIn(world);
  const includesByRoute = new Map<Route, string>();
  for (const route of reading()) {
    const { body } = await api.get(`${fillPath(route.path, world)}?${query}&include=nonsense`);
    const [, includes] = /Known: (.*)\.$/.exec(body?.errors?.[0]?.detail ?? '') ?? [];
    if (includes) includesByRoute.set(route, includes.replaceAll(' ', ''));
  }
  expect(includesByRoute.size).toBeGreaterThan(8);
  const wrong = new Set<string>();
  for (const caller of callers) {
    const { token } = caller;
    const answered = new Map<string, number>();
    for (const [{ path }, include] of includesByRoute) {
      const { status, body } = await api.get(`${fillPath(path, world)}?${query}&include=${include}`, { token });
      if (status !== 200) continue;
      for (const { type, links } of body.included ?? []) {
        const self: string | undefined = links?.self;
        // Entitlement sets are the same for every caller, and have no route of their own.
        if (!self || type === 'entitlement-sets') continue;
        if (!answered.has(self)) answered.set(self, (await api.get(self, { token })).status);
        if (answered.get(self) !== 200) wrong.add(`${caller.role}: ${path} includes ${type} (${answered.get(self)})`);
      }
    }
  }
  expect([...wrong]).toEqual([]);
});
