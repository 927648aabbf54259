import { expect, it } from 'vitest';
import { auditActionOf, isAudited } from '#api/audit-action.ts';

/** Names of actions in the audit trail (HCP API: audit trails). */

it.each([
  ['POST', '/runs', 'run create', undefined, true],
  ['POST', '/runs/{run}/actions/force-cancel', 'run force_cancel', 'run', false],
  ['DELETE', '/workspaces/{workspace}/vars/{var}', 'var destroy', 'var', false],
  [
    'POST',
    '/workspaces/{workspace}/relationships/remote-state-consumers',
    'workspace create_remote_state_consumers',
    'workspace',
    false,
  ],
  ['PUT', '/policies/{policy}/upload', 'policy upload', 'policy', false],
  ['POST', '/workspaces/{workspace}/tasks', 'workspace_task create', 'workspace', true],
  ['POST', '/organizations/{organization}/tasks', 'task create', 'organization', true],
  ['POST', '/policy-sets/{set}/versions', 'version create', 'set', true],
  ['PATCH', '/account/update', 'account update', undefined, false],
  ['PATCH', '/admin/saml-settings', 'saml_setting update', undefined, false],
  [
    'POST',
    '/admin/saml-settings/actions/revoke-old-certificate',
    'saml_setting revoke_old_certificate',
    undefined,
    false,
  ],
  [
    'PATCH',
    '/organizations/{organization}/registry-modules/{registry}/{namespace}/{moduleName}/{moduleProvider}',
    'registry_module update',
    'moduleProvider',
    false,
  ],
  ['GET', '/configuration-versions/{version}/download', 'configuration_version download', 'version', false],
])('%s %s is called %s', (method, path, called, parameter, creates) => {
  const { type, action, ...rest } = auditActionOf(method, path);
  expect([`${type} ${action}`, rest]).toEqual([called, { parameter, creates }]);
  expect(isAudited(method, path)).toBe(true);
});

it('reads are audited where they return secrets', () => {
  const audited = [
    '/plans/{plan}/json-output',
    '/state-version-outputs/{output}',
    '/state-versions/{version}/json-download',
  ];
  const others = ['/plans/{plan}', '/state-version-outputs', '/workspaces/{workspace}/current-state-version'];
  expect(audited.map((path) => isAudited('GET', path))).toEqual([true, true, true]);
  expect(others.map((path) => isAudited('GET', path))).toEqual([false, false, false]);
});
