import { type Key, ofModule, ofOrganization, record, sortable } from './key.ts';

/**
 * The part of the table's layout (keys.ts) for the registry:
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `ORG#<name>` | `MODNAME#<folded name>#<provider>#<registry>#<namespace>` | → module id; unique addresses |
 * | | `PROVNAME#<registry>#<namespace>#<name>` | → provider id; unique addresses |
 * | | `GPG#<key id>` | public key that verifies its providers |
 * | | `TESTING#<run id>` | test run in progress |
 * | `MOD#<id>` | `MOD` | module of the registry |
 * | | `V#<version>` | version of it |
 * | | `VAR#<id>`, `VARKEY#…` | environment variables of its tests, as a workspace's |
 * | | `TEST#<created at>#<run id>` | → test run |
 * | `NOCODE#<id>` | `NOCODE` | settings of a no-code module |
 * | `PROV#<id>` | `PROV` | provider of the registry |
 * | | `V#<version>` | version of it, with its platforms |
 */
export const registryKeys = {
  moduleName: (organization: string, name: string, rest: string[]) =>
    ofOrganization(organization, `MODNAME#${[sortable(name), ...rest].join('#')}`),
  module: record('MOD'),
  moduleVersion: (moduleId: string, version: string) => ofModule(moduleId, `V#${version}`),
  moduleTest: (moduleId: string, createdAt: string, runId: string) => ofModule(moduleId, `TEST#${createdAt}#${runId}`),
  testing: (organization: string, runId: string) => ofOrganization(organization, `TESTING#${runId}`),
  noCodeModule: record('NOCODE'),
  providerName: (organization: string, registry: string, namespace: string, name: string) =>
    ofOrganization(organization, `PROVNAME#${registry}#${namespace}#${name}`),
  provider: record('PROV'),
  providerVersion: (providerId: string, version: string): Key => ({ pk: `PROV#${providerId}`, sk: `V#${version}` }),
  gpgKey: (organization: string, keyId: string) => ofOrganization(organization, `GPG#${keyId}`),
  sharedProvider: (address: string, version: string, platform: string): Key => ({
    pk: `SHAREDPROVIDER#${address}#${version}#${platform}`,
    sk: 'PACKAGE',
  }),
  sharedProviderFetches: (of: string, day: string): Key => ({ pk: `SHAREDPROVIDERFETCHES#${of}#${day}`, sk: 'COUNT' }),
};
