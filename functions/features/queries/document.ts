import { one } from '#api/answer.ts';
import { logPath } from '#resources/runs/log-links.ts';
import { isUser, type Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';

/** A run of `terraform query`. */
export type QueryRun = Run & Required<Pick<Run, 'query'>>;

/** `run-X` → `query-X`: a query run's id shares the characters of its run's id. */
export const queryRunId = (runId: string): string => runId.replace(/^run-/, 'query-');

/** Clients poll while the status is pending; afterwards they read the log, which blocks until it has content. */
const statusOf = ({ status }: Run): string => {
  if (status === 'pending') return 'pending';
  if (status === 'plan_queued') return 'queued';
  if (!isFinal(status)) return 'running';
  if (status === 'planned_and_finished') return 'finished';
  return status === 'errored' ? 'errored' : 'canceled';
};

const timestamps = ({ statusTimestamps: at }: Run): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      'queuing-at': at['plan-queued-at'],
      'running-at': at['planning-at'],
      'finished-at': at['planned-and-finished-at'],
      'errored-at': at['errored-at'],
      'canceled-at': at['canceled-at'],
      'force-canceled-at': at['force-canceled-at'],
    }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

/** HCP API: query runs. @param baseUrl URL of the platform, for the log's URL, which authorizes its reader */
export const queryRunDocument = (run: QueryRun, baseUrl: string) => {
  const { query, plan, cancel, createdBy, status, endReason, variables } = run;
  const open = !isFinal(status);
  return {
    id: queryRunId(run.id),
    type: 'queries',
    attributes: {
      status: statusOf(run),
      'status-timestamps': timestamps(run),
      source: run.source,
      'created-at': run.createdAt,
      'terraform-version': run.terraformVersion,
      variables: variables.map(({ key, value }) => ({ key, value })),
      'generate-config-out': query.generatesConfiguration,
      'log-read-url': `${baseUrl}${logPath(run, 'plan')}`,
      /** Not in HCP's API: the reason of a failure. */
      'end-reason': endReason ?? plan.report?.message ?? null,
      actions: {
        'is-cancelable': open && !cancel,
        'is-force-cancelable': open && !!cancel && new Date().toISOString() >= cancel.forceAvailableAt,
      },
    },
    relationships: {
      workspace: one('workspaces', run.workspaceId),
      'configuration-version': one('configuration-versions', run.configurationVersionId),
      'created-by': one('users', isUser(createdBy) ? createdBy : undefined),
      'canceled-by': one('users', cancel?.by),
    },
    links: { self: `/api/v2/queries/${queryRunId(run.id)}` },
  };
};
