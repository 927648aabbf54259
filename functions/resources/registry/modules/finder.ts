import type { Consumers } from '#api/authority.ts';
import { inOrganization, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { moduleConsumersOf } from '#resources/organizations/module-sharing.ts';
import type { RegistryName } from '../names.ts';
import { findModule, getModule, type Module, type ModuleAddress } from './records.ts';

/** How routes find a module. */

export const common = {
  what: 'registry module',
  parameter: 'moduleName',
  visibleWith: 'registry:read',
  scope: inOrganization,
} as const;

export const moduleById: Finder<Module> = {
  ...common,
  parameter: 'module',
  find: (request) => getModule(param(request, 'module')),
};

const isRegistry = (name: string): name is RegistryName => name === 'private' || name === 'public';

/** @param owner the organization with the module at this address */
const byAddress =
  (owner: (address: ModuleAddress) => string): Finder<Module>['find'] =>
  async (request) => {
    const registry = param(request, 'registry');
    if (!isRegistry(registry)) return undefined;
    const [name, provider] = [param(request, 'moduleName'), param(request, 'moduleProvider')];
    const [of, namespace] = [param(request, 'organization'), param(request, 'namespace')];
    const address = { organization: of, registry, namespace, name, provider };
    return findModule({ ...address, organization: owner(address) });
  };

export const moduleByAddress: Finder<Module> = { ...common, find: byAddress(({ organization }) => organization) };

/** Of a private module; entries of a public registry are for their organization only. */
export const consumersOf = async ({ organization, registry }: Module): Promise<Consumers> =>
  registry === 'private' ? moduleConsumersOf(organization) : new Set();

/** Also finds modules that another organization shares, below the consumer's own name too. */
export const readableByAddress: Finder<Module> = {
  ...common,
  find: byAddress(({ organization, registry, namespace }) => (registry === 'private' ? namespace : organization)),
  consumers: consumersOf,
};
