import type { ConfigurationVersion } from '../configurations/records.ts';
import { defaultOptions } from '../orchestration/create-run.ts';
import { enqueue, pendingIn } from '../orchestration/new-run.ts';
import { getOrganization } from '../people/organizations/records.ts';
import type { Module } from '../registry/modules/records.ts';
import { secondsIn } from '../run/limits.ts';
import { freezeTestVariables } from '../runs/inputs.ts';
import { getRun } from '../runs/records.ts';
import { checkIn } from '../store/due.ts';
import { newId } from '../store/id.ts';
import { type Key, keys } from '../store/keys.ts';
import { batchGet, create, put, queryAll } from '../store/table.ts';
import { now } from '../store/time.ts';
import type { TestRun } from './document.ts';
import type { NewTestRun } from './input.ts';

/**
 * Test runs of modules: runs that lists of runs leave out (run/hidden.ts), with the same machine, runners and isolation
 * as all others. The module's id takes the place of a workspace's.
 */

interface Pointer extends Key {
  runId: string;
}

/** How long they are listed. */
const keptSeconds = 90 * 24 * 3600;

/** Freezes the inputs of the run, and starts it. 1 read, 3 writes, 1 put when there are variables, 1 StartExecution. */
export const createTestRun = async (
  module: Module,
  version: ConfigurationVersion,
  { filters, directory, verbose, parallelism, variables, message }: NewTestRun,
  { createdBy, source }: { createdBy: string; source: string },
): Promise<TestRun> => {
  const id = newId('run');
  const createdAt = now();
  const { id: moduleId, organization } = module;
  const home = {
    id: moduleId,
    organization,
    name: `${module.name}-${module.provider}`,
    executionMode: 'remote',
    agentPoolId: null,
    workingDirectory: null,
  } as const;
  const [inputsKey, pending, limits] = await Promise.all([
    freezeTestVariables(moduleId, id, variables),
    pendingIn(home, createdAt),
    getOrganization(organization),
  ]);
  const plan = limits?.terraformBuildWorkerPlanTimeout;
  const run: TestRun = {
    ...defaultOptions,
    ...pending,
    id,
    number: 0,
    message,
    variables,
    planOnly: true,
    autoApply: false,
    test: { moduleId, filters, directory, verbose, ...(parallelism ? { parallelism } : {}) },
    configurationVersionId: version.id,
    archive: version.archive,
    createdBy,
    source,
    structuredOutput: true,
    terraformVersion: 'latest',
    inputsKey,
    ...(plan ? { timeLimits: { plan: secondsIn(plan) } } : {}),
  };
  const expiresAt = Math.floor(Date.parse(createdAt) / 1000) + keptSeconds;
  await put({ ...keys.moduleTest(moduleId, createdAt, id), runId: id, expiresAt });
  await create({ ...keys.run(id), ...run, expiresAt, ...checkIn(id, 60) });
  await enqueue(run);
  return run;
};

/** Undefined for runs that are not the module's test runs. 1 read. */
export const getTestRun = async (moduleId: string, id: string): Promise<TestRun | undefined> => {
  const [, characters] = /^trun-([A-Za-z0-9]{16})$/.exec(id) ?? [];
  const run = characters ? await getRun(`run-${characters}`) : undefined;
  return run?.test?.moduleId === moduleId ? (run as TestRun) : undefined;
};

/** Newest first. 1 query, and 1 read for the page. */
export const listTestRuns = async (
  moduleId: string,
  { page, size }: { page: number; size: number },
): Promise<{ items: TestRun[]; total: number }> => {
  const pointers = await queryAll<Pointer>({ pk: keys.module(moduleId).pk, prefix: 'TEST#', reverse: true });
  const shown = pointers.slice((page - 1) * size, page * size);
  const items = await batchGet<TestRun & Key>(shown.map(({ runId }) => keys.run(runId)));
  return { items, total: pointers.length };
};
