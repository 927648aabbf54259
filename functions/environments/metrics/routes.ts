import type { Answer } from '#api/answer.ts';
import { nameOf } from '#api/naming.ts';
import { readableAudits } from '../audit/routes.ts';
import { plainText } from '../host/answers.ts';
import { type Call, type Route, route } from '../host/route.ts';
import { listTemplates } from '../templates/records.ts';
import { listOfOrganization } from '../workspaces/records.ts';
import { bounds, type Labels, listSeries, meter, metricNames, type Series } from './records.ts';

/**
 * `/metrics` for Prometheus (text format 0.0.4), for callers with permission to read the audit trail, such as an
 * organization's token.
 */

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const line = (metric: string, labels: Labels, value: number): string =>
  `${metric}{${Object.entries(labels)
    .map(([name, label]) => `${name}="${escaped(label)}"`)
    .join(',')}} ${value}`;

const histogram = ({ metric, labels, count, sum = 0, ...buckets }: Series): string[] => [
  ...bounds.map((bound) => line(`${metric}_bucket`, { ...labels, le: String(bound) }, buckets[`le${bound}`] ?? 0)),
  line(`${metric}_bucket`, { ...labels, le: '+Inf' }, count),
  line(`${metric}_sum`, labels, sum),
  line(`${metric}_count`, labels, count),
];

const { jobs, builds, timings } = metricNames;

const metricsOf = async (organization: string) => {
  const [templates, environments, series] = await Promise.all([
    listTemplates(organization),
    listOfOrganization(organization),
    listSeries(organization),
  ]);
  await Promise.all(templates.map(meter));
  const own = series.map(
    (entry): Series => ({ ...entry, labels: { organization_name: nameOf(organization), ...entry.labels } }),
  );
  const current = environments.filter(({ activeBuildId }) => activeBuildId).length;
  return {
    jobs: [line(jobs, { organization_name: nameOf(organization), provisioner: 'terraform' }, current)],
    builds: own.filter(({ metric }) => metric === builds).map(({ labels, count }) => line(builds, labels, count)),
    timings: own.filter(({ metric }) => metric === timings).flatMap(histogram),
  };
};

const read = async (call: Call): Promise<Answer> => {
  const all = await Promise.all((await readableAudits(call)).map(({ name }) => metricsOf(name)));
  const text = [
    `# HELP ${jobs} Builds in progress.`,
    `# TYPE ${jobs} gauge`,
    ...all.flatMap((numbers) => numbers.jobs),
    `# HELP ${builds} Builds that have ended.`,
    `# TYPE ${builds} counter`,
    ...all.flatMap((numbers) => numbers.builds),
    `# HELP ${timings} Time from the start of a build to its end.`,
    `# TYPE ${timings} histogram`,
    ...all.flatMap((numbers) => numbers.timings),
  ];
  return plainText(`${text.join('\n')}\n`, 'text/plain; version=0.0.4; charset=utf-8');
};

export const metricRoutes: Route[] = [{ ...route('GET', '/metrics', read), path: '/metrics' }];
