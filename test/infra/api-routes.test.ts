import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../functions/api/route.ts';
import { apiRoutes } from '../../infra/api-routes.ts';
import { type FunctionId, functions } from '../../infra/functions.ts';
import { Router } from '../../infra/local/routes.ts';
import { sdkPlugin } from '../../infra/sdk.ts';

/** The public API is five functions. API Gateway sends each what it has a route for, and what nobody has to `Api`. */

process.env.AWS_REGION ??= 'us-east-1';
const { coreRoutes } = await import('../../functions/api/functions/core-routes.ts');
const { stateRoutes } = await import('../../functions/api/functions/states-routes.ts');
const { accessRoutes } = await import('../../functions/api/functions/access-routes.ts');
const { settingRoutes } = await import('../../functions/api/functions/settings-routes.ts');
const { governanceRoutes } = await import('../../functions/api/functions/governance-routes.ts');
const apart = [
  ['States', stateRoutes],
  ['Access', accessRoutes],
  ['Settings', settingRoutes],
  ['Governance', governanceRoutes],
] as const;

const gateway = new Router(apiRoutes.map(({ key, target }) => ({ key, functionArn: target, timeoutMs: 1000 })));
const targetOf = (method: string, path: string) => gateway.find(method, path)?.route.functionArn;
const filled = ({ path }: Route, id = 'x-1') => path.replaceAll(/\{\w+\}/g, id);

describe('API Gateway', () => {
  it.each([['Api', coreRoutes] as const, ...apart])(
    'sends %s every one of its routes, whatever the ids',
    (target, routes) => {
      const astray = [
        'x-1',
        'tasks',
        'policies',
        'policy-sets',
        'varsets',
        'runs',
        'workspaces',
        'organizations',
      ].flatMap((id) => routes.filter((route) => targetOf(route.method, filled(route, id)) !== target));
      expect(astray.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    },
  );

  it.each(apart)('has no path for %s that none of its routes is below', (target, routes) => {
    const idle = apiRoutes
      .filter((route) => route.target === target && route.key.includes(' /api/v2/'))
      .filter(({ key }) => {
        const only = new Router([{ key, functionArn: '', timeoutMs: 1000 }]);
        return !routes.some((route) => only.find(route.method, filled(route)));
      });
    expect(idle).toEqual([]);
  });
});

/** What is left of each module once the bundler has dropped what nobody calls. */
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
const routesIn = 'functions/api/functions';
const isRoutes = (path: string): boolean => /^functions\/.*\broutes\.ts$/.test(path);

/** The modules of a function's routes: what its list of them is put together from. */
const ownRoutes = (list: string): string[] => {
  const text = readFileSync(`${root}${routesIn}/${list}.ts`, 'utf8');
  const imported = [...text.matchAll(/from '(.*\.ts)'/g)].map(([, path]) => join(routesIn, path as string));
  return [`${routesIn}/${list}.ts`, ...imported].filter(isRoutes);
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
].map((path) => `functions/costs/${path}`);
/** Archives are taken in by whoever creates a run; judging is another function's. */
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
].map((path) => `functions/policies/engine/${path}`);
const signsIn = 'functions/people/sign-in/';
const listsWorkspaces = 'functions/workspaces/list-route.ts';
const movesRuns = ['functions/orchestration/queue.ts', 'functions/orchestration/decisions.ts'];

describe('a function of the public API', () => {
  it.each([
    [
      'Api',
      'core-routes',
      [...computesCosts, ...judgesPolicies, signsIn, 'functions/outbound/', 'node_modules/tar-stream/'],
    ],
    [
      'States',
      'states-routes',
      [...computesCosts, signsIn, listsWorkspaces, 'functions/outbound/', 'functions/orchestration/decisions.ts'],
    ],
    ['Access', 'access-routes', [...computesCosts, ...movesRuns, signsIn, listsWorkspaces]],
    [
      'Settings',
      'settings-routes',
      [...computesCosts, ...movesRuns, signsIn, listsWorkspaces, 'functions/outbound/run-task.ts'],
    ],
    [
      'Governance',
      'governance-routes',
      [
        signsIn,
        listsWorkspaces,
        'functions/orchestration/queue.ts',
        'functions/runs/freeze-checks.ts',
        'functions/policies/run-policies.ts',
        'node_modules/tar-stream/',
      ],
    ],
  ] as const)('%s brings along nothing that only others need', async (id, list, foreign) => {
    // What is elsewhere by now would never be found.
    expect(foreign.filter((path) => !existsSync(`${root}${path}`))).toEqual([]);
    const modules = await modulesOf(id);
    expect(modules.length).toBeGreaterThan(100);
    expect(modules.filter((path) => foreign.some((one) => path.startsWith(one)))).toEqual([]);
    const own = ownRoutes(list);
    expect(own.length).toBeGreaterThan(5);
    expect(modules.filter((path) => isRoutes(path) && !own.includes(path))).toEqual([]);
  });
});
