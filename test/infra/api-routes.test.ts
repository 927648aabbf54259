import { existsSync, readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { sdkPlugin } from '#infra/build/sdk.ts';
import { Router } from '#infra/local/host/routes.ts';
import { deriveApiRoutes, type KnownRoute, knownRoutes } from '#infra/stack/api-routes.ts';
import { type FunctionId, functions, httpFunctionIds } from '#infra/stack/functions.ts';

/**
 * The public API is several functions. API Gateway sends each function the requests to its routes, and all others to
 * `Api`.
 */

process.env.AWS_REGION ??= 'us-east-1';
const [keys, declared] = await Promise.all([deriveApiRoutes(), knownRoutes()]);

type Keyed = { key: string; target: string };
const routerOf = (routes: Keyed[]) =>
  new Router(routes.map(({ key, target }) => ({ key, functionArn: target, timeoutMs: 1000 })));
const gateway = routerOf(keys);
const exact = routerOf(declared.map(({ method, path, target }) => ({ key: `${method} ${path}`, target })));

const isParameter = (segment: string | undefined): boolean => segment?.startsWith('{') ?? false;
const segmentsOf = (path: string): string[] => path.slice(1).split('/');

/** Ids for a parameter, including words of paths and each word that another route has at that position. */
const idsAt = (prefix: string[]): string[] => {
  const words = declared
    .map(({ path }) => segmentsOf(path))
    .filter((path) => prefix.every((segment, i) => isParameter(path[i]) || path[i] === segment))
    .map((path) => path[prefix.length])
    .filter((segment) => segment !== undefined && !isParameter(segment));
  return [...new Set(['x-1', 'tasks', 'workspaces', ...words])] as string[];
};

/** Every path of a route that could be confused with another. */
const pathsOf = ({ path }: Pick<KnownRoute, 'path'>): string[] =>
  segmentsOf(path)
    .reduce<string[][]>(
      (prefixes, segment) =>
        prefixes.flatMap((prefix) => (isParameter(segment) ? idsAt(prefix) : [segment]).map((id) => [...prefix, id])),
      [[]],
    )
    .map((segments) => `/${segments.join('/')}`);

const requests = declared.flatMap((route) => pathsOf(route).map((path) => ({ ...route, path })));
const targetIn = (router: Router, { method, path }: Pick<KnownRoute, 'method' | 'path'>) =>
  router.find(method, path)?.route.functionArn;

const subtrees = (target: string): string[] => functions[target as 'Api'].http.subtrees ?? [];

const parse = (key: string) => {
  const [method = '', path = ''] = key.split(' ');
  return { method, segments: segmentsOf(path) };
};
const isGreedy = (segment: string | undefined): boolean => segment?.endsWith('+}') ?? false;

/** Whether some request matches both keys. */
const overlap = (a: string, b: string): boolean => {
  const [one, other] = [parse(a), parse(b)];
  if (one.method !== 'ANY' && other.method !== 'ANY' && one.method !== other.method) return false;
  for (let i = 0; ; i++) {
    const [x, y] = [one.segments[i], other.segments[i]];
    if (x === undefined || y === undefined) return x === y;
    if (isGreedy(x) || isGreedy(y)) return true;
    if (!isParameter(x) && !isParameter(y) && x !== y) return false;
  }
};

/** Whether every request that matches the second key matches the first. */
const contains = (a: string, b: string): boolean => {
  const [one, other] = [parse(a), parse(b)];
  if (one.method !== 'ANY' && one.method !== other.method) return false;
  for (let i = 0; ; i++) {
    const [x, y] = [one.segments[i], other.segments[i]];
    if (x === undefined || y === undefined) return x === y;
    if (isGreedy(x)) return true;
    if (isGreedy(y) || (!isParameter(x) && x !== y)) return false;
  }
};

describe('API Gateway', () => {
  it('sends each route to its function, for any ids', () => {
    expect(declared.length).toBeGreaterThan(200);
    expect(requests.length).toBeGreaterThan(declared.length);
    const astray = requests
      .filter((request) => targetIn(gateway, request) !== targetIn(exact, request))
      .map(({ method, path }) => `${method} ${path}`);
    expect(astray).toEqual([]);
  });

  it('has no redundant key', () => {
    const derived = keys.filter(({ target, key }) => !subtrees(target).includes(key));
    expect(derived.length).toBeGreaterThan(50);
    // Removing a key can only affect requests that it matched.
    const chosenBy = Map.groupBy(requests, ({ method, path }) => gateway.find(method, path)?.route.key);
    const idle = derived.filter((one) => {
      const others = routerOf(keys.filter((key) => key !== one));
      return (chosenBy.get(one.key) ?? []).every((request) => targetIn(others, request) === targetIn(exact, request));
    });
    expect(idle).toEqual([]);
  });

  it('routes unknown paths to a function of the public API, which responds with 404', () => {
    expect(targetIn(gateway, { method: 'GET', path: '/api/v2/nothing' })).toBe('Api');
    for (const path of [
      '/api/v2/workspaces/ws-1/nothing',
      '/api/v2/organizations/acme/nothing',
      '/api/v2/teams/nothing',
    ]) {
      const target = targetIn(gateway, { method: 'GET', path });
      expect(functions[target as 'Api']?.entry).toContain('functions/public-api');
    }
  });

  it('has no ambiguous keys', () => {
    const rivals = keys.flatMap((one, i) =>
      keys
        .slice(i + 1)
        .filter((other) => other.target !== one.target && overlap(one.key, other.key))
        .filter((other) => !contains(one.key, other.key) && !contains(other.key, one.key))
        .map((other) => [one.key, other.key]),
    );
    expect(rivals).toEqual([]);
  });

  it('has room for 50 % more keys', () => {
    const routesPerApi = 300;
    expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
    expect(keys.length).toBeLessThan((routesPerApi * 2) / 3);
    console.log(`${keys.length} keys for ${declared.length} routes of ${httpFunctionIds.length} functions`);
  });
});

/** Remaining code of each module after the bundler has removed unused code. */
const modulesOf = async (id: FunctionId): Promise<string[]> => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [functions[id].entry],
    bundle: true,
    minify: true,
    platform: 'node',
    mainFields: ['module', 'main'],
    format: 'cjs',
    write: false,
    metafile: true,
    outdir: 'out',
    plugins: [sdkPlugin(root)],
  });
  return Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => inputs[path]?.bytesInOutput),
  );
};

const root = new URL('../..', import.meta.url).pathname;
const isRoutes = (path: string): boolean => /^functions\/.*\broutes\.ts$/.test(path);

/** The modules of a function's routes. */
const ownRoutes = (entry: string): string[] => {
  const imported = readFileSync(`${root}${entry}`, 'utf8').matchAll(/from '#(.*\.ts)'/g);
  return [...imported].map(([, path]) => `functions/${path}`).filter(isRoutes);
};

const computesCosts = [
  'bill.ts',
  'decimal.ts',
  'details.ts',
  'estimate.ts',
  'plan.ts',
  'prices/',
  'regions.ts',
  'relations.ts',
  'resources/',
].map((path) => `functions/resources/costs/${path}`);
/** Functions that create runs process uploaded archives; another function evaluates policies. */
const judgesPolicies = [
  'child.ts',
  'check-output.ts',
  'engine.ts',
  'evaluate-run.ts',
  'evaluate-set.ts',
  'find-engine.ts',
  'input.ts',
  'opa.ts',
  'result.ts',
  'sentinel.ts',
].map((path) => `functions/resources/policies/engine/${path}`);
const signsIn = 'functions/resources/sign-in/';
const listsWorkspaces = 'functions/resources/workspaces/list-route.ts';
const startsRuns = 'functions/lifecycle/creation/create-run.ts';
const movesRuns = ['functions/lifecycle/queue/queue.ts', 'functions/lifecycle/decisions/decisions.ts'];

describe('a function of the public API', () => {
  it.each([
    ['Api', [...computesCosts, ...movesRuns, signsIn, startsRuns, 'functions/platform/net/outbound/']],
    [
      'Runs',
      [
        ...computesCosts,
        ...judgesPolicies,
        signsIn,
        listsWorkspaces,
        'functions/platform/net/outbound/',
        'node_modules/tar-stream/',
      ],
    ],
    [
      'States',
      [
        ...computesCosts,
        signsIn,
        listsWorkspaces,
        'functions/platform/net/outbound/',
        'functions/lifecycle/decisions/decisions.ts',
      ],
    ],
    ['Access', [...computesCosts, ...movesRuns, signsIn, listsWorkspaces]],
    ['Organizations', [...computesCosts, ...movesRuns, signsIn, listsWorkspaces]],
    [
      'Workspaces',
      [...computesCosts, ...movesRuns, signsIn, listsWorkspaces, 'functions/platform/net/outbound/run-task.ts'],
    ],
    [
      'Settings',
      [
        ...computesCosts,
        ...movesRuns,
        signsIn,
        listsWorkspaces,
        'functions/platform/net/outbound/run-task.ts',
        'functions/version-control/access.ts',
      ],
    ],
    [
      'Governance',
      [
        signsIn,
        listsWorkspaces,
        'functions/lifecycle/queue/queue.ts',
        'functions/lifecycle/creation/freeze-checks.ts',
        'functions/resources/policies/run-policies.ts',
        ...judgesPolicies.filter((path) => !path.endsWith('check-output.ts')),
        'node_modules/tar-stream/',
      ],
    ],
    [
      'Policies',
      [
        ...computesCosts,
        signsIn,
        listsWorkspaces,
        startsRuns,
        'functions/platform/net/outbound/run-task.ts',
        'node_modules/tar-stream/',
      ],
    ],
  ] as const)('%s bundles no code that only others need', async (id, foreign) => {
    // A path that moved elsewhere would never be found.
    expect(foreign.filter((path) => !existsSync(`${root}${path}`))).toEqual([]);
    const modules = await modulesOf(id);
    expect(modules.length).toBeGreaterThan(100);
    expect(modules.filter((path) => foreign.some((one) => path.startsWith(one)))).toEqual([]);
    const own = ownRoutes(functions[id].entry);
    expect(own.length).toBeGreaterThan(1);
    expect(modules.filter((path) => isRoutes(path) && !own.includes(path))).toEqual([]);
  });
});
