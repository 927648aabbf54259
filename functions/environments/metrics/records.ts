import type { Key } from '#platform/store/keys.ts';
import { queryAll, update, updateExisting } from '#platform/store/table.ts';
import type { Build } from '../builds/records.ts';
import { keys } from '../keys.ts';
import type { Template } from '../templates/records.ts';
import type { Environment } from '../workspaces/records.ts';
import { emit } from './embedded.ts';

/** Counts of builds: in CloudWatch, and stored for Prometheus once a scrape has read the template. */

export type Labels = Record<string, string>;

/** One combination of labels; for a histogram with its sum and the counts up to each bound, `le1`, `le10`, … */
export interface Series {
  metric: string;
  labels: Labels;
  count: number;
  sum?: number;
  [bucket: `le${number}`]: number;
}

/** Upper ends of buckets, in seconds. */
export const bounds = [1, 10, 30, 60, 300, 600, 1800, 3600] as const;

const add = async (organization: string, metric: string, labels: Labels, numbers: Record<string, number>) => {
  await update(keys.metric(organization, metric, JSON.stringify(labels)), {
    set: { metric, labels },
    add: { count: 1, ...numbers },
  });
};

export const listSeries = (organization: string): Promise<(Series & Key)[]> =>
  queryAll<Series & Key>({ pk: keys.metric(organization, '', '').pk, prefix: 'METRIC#' });

export interface Metered {
  metered?: true;
}

/** Counts the template's builds from now on. 1 write, once. */
export const meter = async (template: Template): Promise<void> => {
  if ((template as Metered).metered) return;
  await updateExisting(keys.template(template.id), { set: { metered: true } });
};

const transitions = { start: 'START', stop: 'STOP', delete: 'DESTROY' };

const secondsOf = ({ startedAt, createdAt, completedAt }: Build): number =>
  Math.max(0, Date.parse(completedAt ?? createdAt) - Date.parse(startedAt ?? createdAt)) / 1000;

export const metricNames = {
  jobs: 'coderd_provisionerd_jobs_current',
  builds: 'coderd_workspace_builds_total',
  timings: 'coderd_provisionerd_job_timings_seconds',
} as const;

const provisioner = 'terraform';

/** Written as differences, which CloudWatch adds up (RUNNING_SUM). */
const jobsChange = (value: 1 | -1) => ({
  name: metricNames.jobs,
  unit: 'Count' as const,
  value,
  dimensions: ['organization_name', 'provisioner'],
});

/** Called when a build has started. */
export const emitBegun = ({ organization }: Build): void =>
  emit([jobsChange(1)], { organization_name: organization, provisioner });

const emitEnded = (organization: string, labels: Labels, seconds: number): void =>
  emit(
    [
      jobsChange(-1),
      {
        name: metricNames.builds,
        unit: 'Count',
        value: 1,
        dimensions: ['organization_name', 'template_name', 'workspace_transition', 'status'],
      },
      {
        name: metricNames.timings,
        unit: 'Seconds',
        value: seconds,
        dimensions: ['organization_name', 'provisioner', 'status'],
      },
    ],
    { organization_name: organization, provisioner, ...labels },
  );

/** Called when a build was completed. 2 writes if its template is scraped, otherwise none. */
export const countBuild = async (build: Build, environment: Environment, template: Template): Promise<void> => {
  const status = build.error || build.canceledAt ? 'failed' : 'success';
  const seconds = secondsOf(build);
  const buckets = Object.fromEntries(bounds.filter((bound) => seconds <= bound).map((bound) => [`le${bound}`, 1]));
  const labels = {
    workspace_owner: environment.ownerName,
    workspace_name: environment.name,
    template_name: template.name,
    template_version: build.versionName,
    workspace_transition: transitions[build.transition],
    status,
  };
  emitEnded(build.organization, labels, seconds);
  if (!(template as Metered).metered) return;
  await Promise.all([
    add(build.organization, metricNames.builds, labels, {}),
    add(build.organization, metricNames.timings, { provisioner, status }, { sum: seconds, ...buckets }),
  ]);
};
