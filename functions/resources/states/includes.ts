import type { Resource } from '#api/answer.ts';
import { includable } from '#api/include.ts';
import { readWithin } from '#api/response-size.ts';
import type { Context, Subject } from '#api/route.ts';
import { configurationVersionDocument } from '#resources/configurations/document.ts';
import { getConfigurationVersions } from '#resources/configurations/records.ts';
import { runDocument } from '#resources/runs/document.ts';
import { getRuns } from '#resources/runs/records.ts';
import { userDocument } from '#resources/users/user-document.ts';
import { getUsers } from '#resources/users/users.ts';
import { outputDocument } from './document.ts';
import { readSummary } from './records.ts';
import type { StateVersion } from './state-version.ts';

export const include = includable('outputs', 'run', 'created_by', 'run.created_by', 'run.configuration_version');

const outputsOf = async (version: StateVersion): Promise<Resource[]> =>
  ((await readSummary(version))?.outputs ?? []).map((output, index) => outputDocument(version.id, output, index));

const distinct = (ids: (string | undefined)[]): string[] => [...new Set(ids)].filter((id) => id !== undefined);

/**
 * Resources included with state versions, each only for callers with permission to read it. Undefined when the
 * request includes nothing.
 * @throws {ApiError} 400
 */
export const relatedTo = ({ request, granted, principal }: Context<Subject>) => {
  const includes = include.of(request);
  return async (versions: StateVersion[]): Promise<Resource[] | undefined> => {
    if (includes.size === 0) return undefined;
    const may = { runs: granted.has('run:read'), configurations: granted.has('configuration:read') };
    const wantsRuns = may.runs && [...includes].some((path) => path.startsWith('run'));
    const runIds = versions.flatMap(({ runId, ofRunId }) => runId ?? ofRunId ?? []);
    const runs = wantsRuns ? await getRuns([...new Set(runIds)]) : [];
    const creators = may.runs
      ? [
          ...(includes.has('created_by') ? versions.map(({ userId }) => userId) : []),
          ...(includes.has('run.created_by') ? runs.map(({ createdBy }) => createdBy) : []),
        ]
      : [];
    const wantsConfigurations = may.configurations && includes.has('run.configuration_version');
    const [outputs, users, configurations] = await Promise.all([
      includes.has('outputs') && granted.has('state:read-outputs')
        ? readWithin(versions, outputsOf, ({ id }) => `the outputs of state version ${id}`)
        : [],
      getUsers(distinct(creators)),
      getConfigurationVersions(distinct(wantsConfigurations ? runs.map((run) => run.configurationVersionId) : [])),
    ]);
    return [
      ...outputs.flat(),
      ...runs.map((run) => runDocument(run, { granted, userId: principal.userId })),
      ...users.map(userDocument),
      ...configurations.map((version) => configurationVersionDocument(version)),
    ];
  };
};
