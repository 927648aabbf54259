import { one } from '#api/answer.ts';
import { logPath } from '#resources/runs/log-links.ts';
import { testRunStatus, testVerdict } from '#run/module-test.ts';
import type { Run } from '#run/run.ts';

/** A run of `terraform test`. */
export type TestRun = Run & Required<Pick<Run, 'test'>>;

/** `run-X` → `trun-X`: a test run's id shares the characters of its run's id. */
export const testRunId = (runId: string): string => runId.replace(/^run-/, 'trun-');

const timestamps = ({ createdAt, statusTimestamps: at }: Run): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      'queued-at': createdAt,
      'started-at': at['plan-queued-at'],
      'finished-at': at['planned-and-finished-at'],
      'errored-at': at['errored-at'],
      'canceled-at': at['canceled-at'],
      'force-canceled-at': at['force-canceled-at'],
    }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

/** HCP API: test runs. @param baseUrl URL of the platform, for the log's URL, which authorizes its reader */
export const testRunDocument = (run: TestRun, baseUrl: string) => {
  const { test, plan, configurationVersionId, endReason, createdBy, source, message, createdAt, variables } = run;
  const facts = plan.report?.tests;
  return {
    id: testRunId(run.id),
    type: 'test-runs',
    attributes: {
      status: testRunStatus(run),
      'status-timestamps': timestamps(run),
      'test-status': testVerdict(run),
      'tests-passed': facts?.passed ?? 0,
      'tests-failed': facts?.failed ?? 0,
      'tests-errored': facts?.errored ?? 0,
      'tests-skipped': facts?.skipped ?? 0,
      /** Not in HCP's API: the reason of a failure, and the resources that the run could not destroy. */
      'end-reason': endReason ?? plan.report?.message ?? null,
      'remaining-resources': facts?.left ?? [],
      'log-read-url': `${baseUrl}${logPath(run, 'plan')}`,
      filters: test.filters,
      'test-directory': test.directory,
      verbose: test.verbose,
      parallelism: test.parallelism ?? null,
      variables: variables.map(({ key, value }) => ({ key, value })),
      source,
      message,
      'created-at': createdAt,
      'test-configurable-type': 'RegistryModule',
      'test-configurable-id': test.moduleId,
    },
    relationships: {
      'configuration-version': one('configuration-versions', configurationVersionId),
      'registry-module': one('registry-modules', test.moduleId),
      'created-by': one('users', createdBy),
    },
  };
};
