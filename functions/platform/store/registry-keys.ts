import { type Key, sortable } from './key.ts';

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
  moduleName: (organization: string, name: string, rest: string[]): Key => ({
    pk: `ORG#${organization}`,
    sk: `MODNAME#${[sortable(name), ...rest].join('#')}`,
  }),
  module: (id: string): Key => ({ pk: `MOD#${id}`, sk: 'MOD' }),
  moduleVersion: (moduleId: string, version: string): Key => ({ pk: `MOD#${moduleId}`, sk: `V#${version}` }),
  moduleTest: (moduleId: string, createdAt: string, runId: string): Key => ({
    pk: `MOD#${moduleId}`,
    sk: `TEST#${createdAt}#${runId}`,
  }),
  testing: (organization: string, runId: string): Key => ({ pk: `ORG#${organization}`, sk: `TESTING#${runId}` }),
  noCodeModule: (id: string): Key => ({ pk: `NOCODE#${id}`, sk: 'NOCODE' }),
  providerName: (organization: string, registry: string, namespace: string, name: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `PROVNAME#${registry}#${namespace}#${name}`,
  }),
  provider: (id: string): Key => ({ pk: `PROV#${id}`, sk: 'PROV' }),
  providerVersion: (providerId: string, version: string): Key => ({ pk: `PROV#${providerId}`, sk: `V#${version}` }),
  gpgKey: (organization: string, keyId: string): Key => ({ pk: `ORG#${organization}`, sk: `GPG#${keyId}` }),
  sharedProvider: (address: string, version: string, platform: string): Key => ({
    pk: `SHAREDPROVIDER#${address}#${version}#${platform}`,
    sk: 'PACKAGE',
  }),
  sharedProviderFetches: (of: string, day: string): Key => ({ pk: `SHAREDPROVIDERFETCHES#${of}#${day}`, sk: 'COUNT' }),
};
