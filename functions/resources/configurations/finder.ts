import { inWorkspace, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { type ConfigurationVersion, getConfigurationVersion } from './records.ts';

export const configurationVersion: Finder<ConfigurationVersion> = {
  what: 'configuration version',
  parameter: 'version',
  find: (request) => getConfigurationVersion(param(request, 'version')),
  ...inWorkspace,
};

/** A run task may read the configuration of its own run. */
export const taskConfigurationVersion: Finder<ConfigurationVersion> = {
  ...configurationVersion,
  ofTask: ({ id }, run) => run.configurationVersionId === id,
};
