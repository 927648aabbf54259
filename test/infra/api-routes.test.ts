import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../functions/api/route.ts';
import { apiRoutes } from '../../infra/api-routes.ts';
import { type FunctionId, functions } from '../../infra/functions.ts';
import { Router } from '../../infra/local/routes.ts';
import { sdkPlugin } from '../../infra/sdk.ts';

/** The public API is five functions. API Gateway sends each what it has a route for, and what nobody has to `Api`. */

process.env.AWS_REGION ??= 'us-east-1';
const { coreRoutes } = await import('../../functions/public-api/core-routes.ts');
const { stateRoutes } = await import('../../functions/public-api/states-routes.ts');
const { accessRoutes } = await import('../../functions/public-api/access-routes.ts');
const { settingRoutes } = await import('../../functions/public-api/settings-routes.ts');
const { governanceRoutes } = await import('../../functions/public-api/governance-routes.ts');
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
  const root = new URL('../..', import.meta.url).pathname;
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

describe('a function of the public API', () => {
  it.each([
    [
      'Api',
      /^functions\/(outbound|cost|sign-in)\/|api\/routes\/(states\/(?!state-version-includes)|access|settings|governance|sign-in)|tar-stream|policies\/(engine|opa)/,
    ],
    [
      'States',
      /^functions\/(outbound|cost|sign-in)\/|api\/routes\/(core|access|settings|governance|sign-in)|store\/runs\/run-actions/,
    ],
    [
      'Access',
      /^functions\/(cost|sign-in)\/|api\/routes\/(core|states|settings|governance|sign-in)|store\/runs\/(queue|run-actions)/,
    ],
    [
      'Settings',
      /^functions\/(cost|sign-in)\/|outbound\/run-task|api\/routes\/(core|states|access|governance|sign-in)|store\/runs\/(queue|run-actions)/,
    ],
    [
      'Governance',
      /^functions\/sign-in\/|api\/routes\/(core|states|access|settings|sign-in)|store\/(runs\/(queue|freeze)|policies\/run-policies)|tar-stream/,
    ],
  ] as const)('%s brings along nothing that only others need', async (id, foreign) => {
    const modules = await modulesOf(id);
    expect(modules.length).toBeGreaterThan(100);
    expect(modules.filter((path) => foreign.test(path))).toEqual([]);
  });
});
