import { inOrganization, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import type { RegistryName } from '../names.ts';
import { findModule, getModule, type Module } from './records.ts';

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

export const moduleByAddress: Finder<Module> = {
  ...common,
  find: async (request) => {
    const registry = param(request, 'registry');
    if (!isRegistry(registry)) return undefined;
    const [name, provider] = [param(request, 'moduleName'), param(request, 'moduleProvider')];
    const [of, namespace] = [param(request, 'organization'), param(request, 'namespace')];
    return findModule({ organization: of, registry, namespace, name, provider });
  },
};
