import { limitOf } from '#features/hidden-runs/answers.ts';
import { createHiddenRun, getHiddenRun, listHiddenRuns } from '#features/hidden-runs/records.ts';
import { keys } from '#platform/store/keys.ts';
import type { ConfigurationVersion } from '#resources/configurations/records.ts';
import type { Module } from '#resources/registry/modules/records.ts';
import { freezeTestVariables } from '#resources/runs/inputs.ts';
import type { TestRun } from './document.ts';
import type { NewTestRun } from './input.ts';

/**
 * Test runs of modules: hidden runs with the same state machine, runners and isolation as all others. Their
 * workspace id is the module's id.
 */

/** Freezes the inputs of the run, and starts it. */
export const createTestRun = async (
  module: Module,
  version: ConfigurationVersion,
  { filters, directory, verbose, parallelism, variables, message }: NewTestRun,
  { createdBy, source }: { createdBy: string; source: string },
): Promise<TestRun> => {
  const { id: moduleId, organization } = module;
  const home = {
    id: moduleId,
    organization,
    name: `${module.name}-${module.provider}`,
    executionMode: 'remote',
    agentPoolId: null,
    workingDirectory: null,
  } as const;
  const test = { moduleId, filters, directory, verbose, ...(parallelism ? { parallelism } : {}) };
  const run = await createHiddenRun(
    home,
    {
      message,
      variables,
      test,
      createdBy,
      source,
      terraformVersion: 'latest',
    },
    {
      version,
      freeze: (id) => freezeTestVariables(moduleId, id, variables),
      pointer: (createdAt, id) => keys.moduleTest(moduleId, createdAt, id),
      limit: limitOf(organization, 'test runs'),
    },
  );
  return { ...run, test };
};

/** Undefined for runs that are not test runs of the module. 1 read. */
export const getTestRun = async (moduleId: string, id: string): Promise<TestRun | undefined> => {
  const run = await getHiddenRun('trun', id);
  return run?.test?.moduleId === moduleId ? (run as TestRun) : undefined;
};

/** Newest first. 1 query, and 1 read for the page. */
export const listTestRuns = (moduleId: string, page: { page: number; size: number }) =>
  listHiddenRuns<TestRun>({ pk: keys.module(moduleId).pk, prefix: 'TEST#' }, page);
