import { byId, inOrganization, inWorkspace } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { isModule } from '#platform/store/keys.ts';
import { type ConfigurationVersion, getConfigurationVersion } from './records.ts';

export const configurationVersion = byId({
  what: 'configuration version',
  parameter: 'version',
  get: getConfigurationVersion,
  ...inWorkspace,
});

/** Also finds the versions of a module's tests, for users with permission to run the tests. */
export const readableConfigurationVersion: Finder<ConfigurationVersion> = {
  ...configurationVersion,
  visibleWith: ({ workspaceId }) => (isModule(workspaceId) ? 'registry:read' : inWorkspace.visibleWith),
  needs: ({ workspaceId }, permission) => (isModule(workspaceId) ? 'registry:write-modules' : permission),
  scope: (version) => (isModule(version.workspaceId) ? inOrganization(version) : inWorkspace.scope(version)),
};

/** A run task may read the configuration of its own run. */
export const taskConfigurationVersion: Finder<ConfigurationVersion> = {
  ...readableConfigurationVersion,
  ofTask: ({ id }, run) => run.configurationVersionId === id,
};
