import { type Key, ofOrganization, ofRun, record } from './key.ts';

/** Scopes of policy sets. */
export type PolicyScope = { organization: string } | { project: string } | { workspace: string };

/** Next to the variable sets and run tasks of the same scope: the creation of a run reads them together. */
const policySetsOf = (scope: PolicyScope): Key => {
  if ('organization' in scope) return { pk: `ORG#${scope.organization}`, sk: 'GLOBALPOLICYSETS' };
  if ('project' in scope) return { pk: `PROJECT#${scope.project}`, sk: 'POLICYSETS' };
  return { pk: `WS#${scope.workspace}`, sk: 'WSPOLICYSETS' };
};

/**
 * The part of the table's layout (keys.ts) for policies.
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `POLICY#<id>` | `POLICY` | policy |
 * | `POLSET#<id>` | `POLSET` | policy set, with its scopes |
 * | | `VAR#<id>`, `VARKEY#…` | its parameters, as a workspace's variables |
 * | | `VERSION#<created at>#<id>` | → policy set version id |
 * | `POLSETVER#<id>` | `POLSETVER` | policy set version |
 */
export const policyKeys = {
  policy: record('POLICY'),
  policyName: (organization: string, name: string) => ofOrganization(organization, `POLICY#${name}`),
  policySet: record('POLSET'),
  policySetName: (organization: string, name: string) => ofOrganization(organization, `POLSET#${name}`),
  policySetsOf,
  policySetVersion: record('POLSETVER'),
  versionOfPolicySet: (setId: string, createdAt: string, id: string): Key => ({
    pk: `POLSET#${setId}`,
    sk: `VERSION#${createdAt}#${id}`,
  }),
  policyResult: (runId: string, what: 'evaluation' | 'check') => ofRun(runId, `POLICIES#${what}`),
};
