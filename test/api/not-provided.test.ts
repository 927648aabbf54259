import { describe, expect, it } from 'vitest';
import { featureNotProvided } from '#api/not-provided.ts';
import { startApi } from '#test/support/api.ts';

/** Features of HCP Terraform that this platform does not provide. */

const api = await startApi();

it.each([
  ['GET', 'organizations/acme/metrics-tokens', 'metrics of agents'],
  ['POST', 'admin/terraform-versions', 'changing the list of Terraform versions'],
  ['DELETE', 'admin/terraform-versions/tool-1.2.3', 'changing the list of Terraform versions'],
  ['GET', 'organizations/acme/invoices/next', 'invoices'],
])('%s %s gets a 404 that names the unsupported feature', async (method, path, feature) => {
  const { status, body } = await api.call(method, path);
  expect(status).toBe(404);
  expect(body.errors).toEqual([
    {
      status: '404',
      title: 'not found',
      detail: `${method} /api/v2/${path} not found: this platform does not support ${feature}.`,
    },
  ]);
});

it('unknown paths and ids get a plain 404', async () => {
  for (const path of ['nothing', 'agent-poolsx', 'workspaces/agents', 'workspaces/ws-unknown', 'runs/x/plan-exports']) {
    const { status, body } = await api.get(path);
    expect([path, status]).toEqual([path, 404]);
    expect(body.errors[0].detail).not.toContain('not provided');
  }
});

/** Can be read, but not changed. */
const readOnly = 'changing the list of Terraform versions';

it('no path with a route is listed as unsupported', async () => {
  const { routes } = await import('#public-api/all-routes.ts');
  const shadowed = routes.filter(({ method, path }) => {
    const feature = featureNotProvided(path.replaceAll(/\{\w+\}/g, 'x'));
    return feature && !(feature === readOnly && method === 'GET');
  });
  expect(shadowed.map(({ path }) => path)).toEqual([]);
});

describe('entitlements', () => {
  /** Entitlements that require a route. */
  const needs: Record<string, string> = {
    agents: '/agent-pools/',
    'audit-logging': '/organization/audit-trail',
    'cost-estimation': '/cost-estimates/',
    operations: '/runs',
    'policy-enforcement': '/policy-sets/',
    'private-module-registry': '/registry-modules/',
    'private-vcs': '/oauth-clients/',
    'run-tasks': '/tasks/',
    sentinel: '/policy-checks/',
    'state-storage': '/state-versions/',
    teams: '/teams/',
    'vcs-integrations': '/oauth-clients/',
  };
  const never = [
    'private-run-tasks',
    'self-serve-billing',
    'stacks',
    'waypoint-actions',
    'waypoint-templates-and-addons',
  ];

  it('are false for unsupported features', async () => {
    const { routes } = await import('#public-api/all-routes.ts');
    const { attributes } = (await api.get('organizations/acme/entitlement-set')).body.data;
    for (const name of never) expect([name, attributes[name]]).toEqual([name, false]);
    for (const [name, path] of Object.entries(needs)) {
      const there = routes.some((route) => route.path.startsWith(`/api/v2${path}`));
      expect([name, attributes[name] && !there]).toEqual([name, false]);
    }
  });
});
