import type { Template } from '#infra/build/synth.ts';
import { prices } from '#infra/local/aws/pricing/prices.ts';

/** Monthly cost of the stack while nothing runs, derived from its template. */

export interface Line {
  what: string;
  /** Quantity, for readers. */
  count: string;
  /** USD a month at list prices. */
  usd: number;
  /** The part that an account's permanent free tier covers, if nothing else uses it up. */
  freeUsd?: number;
}

/** List prices, us-east-1, USD a month (aws.amazon.com/kms/pricing, /cloudwatch/pricing, /ecr/pricing). */
const monthly = {
  key: 1,
  alarmMetric: 0.1,
  freeAlarmMetrics: 10,
  /** For more than {@link freeDashboardMetrics}; the first three smaller ones of an account are free. */
  dashboard: 3,
  freeDashboardMetrics: 50,
  imageGb: 0.1,
} as const;

const minutes = (365 / 12) * 24 * 60;
/** An upper bound from the local platform; the image by its content (infra/docs/costs.md). */
const assumed = { sweepMs: 100, imageGb: 0.13 };
/**
 * Partitions of the index that a sweep reads (functions/platform/store/due.ts); an empty response costs half a unit.
 */
const sweepReadUnits = 8 * 0.5;
/** DynamoDB asks KMS for a caller's table key every five minutes (DynamoDB: encryption at rest, usage notes). */
const keyRequests = minutes / 5;

type Properties = Record<string, unknown>;
const all = ({ Resources }: Template, type: string): Properties[] =>
  Object.values(Resources)
    .filter(({ Type }) => Type === type)
    .map(({ Properties = {} }) => Properties);

/** Every metric in an expression is billed, the expression is not. */
export const metricsOfAlarm = ({ Metrics }: Properties): number =>
  Metrics ? (Metrics as Properties[]).filter(({ MetricStat }) => MetricStat).length : 1;

const text = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const [, parts] = (value as { 'Fn::Join': [string, unknown[]] })['Fn::Join'];
  return parts.map((part) => (typeof part === 'string' ? part : 'x')).join('');
};

/** Distinct metrics; log queries have none. */
export const metricsOfDashboard = ({ DashboardBody }: Properties): number => {
  const { widgets } = JSON.parse(text(DashboardBody)) as { widgets: { properties: { metrics?: unknown[][] } }[] };
  // The last element of a metric is its rendering.
  const names = widgets.flatMap(({ properties }) =>
    (properties.metrics ?? []).map((metric) => JSON.stringify(metric.filter((part) => typeof part === 'string'))),
  );
  return names.length;
};

export const idleCosts = (template: Template): Line[] => {
  const keys = all(template, 'AWS::KMS::Key').length;
  const alarms = all(template, 'AWS::CloudWatch::Alarm');
  const alarmMetrics = alarms.reduce((sum, alarm) => sum + metricsOfAlarm(alarm), 0);
  const dashboards = all(template, 'AWS::CloudWatch::Dashboard').map(metricsOfDashboard);
  const billed = dashboards.filter((metrics) => metrics > monthly.freeDashboardMetrics).length;
  const everyMinute = all(template, 'AWS::Events::Rule').filter(
    ({ ScheduleExpression }) => ScheduleExpression === 'rate(1 minute)',
  ).length;
  const sweeps = everyMinute * minutes;
  const lambda = sweeps * (prices.lambdaRequest + (assumed.sweepMs / 1000) * 0.5 * prices.lambdaGbSecond);
  return [
    { what: 'KMS keys', count: `${keys}`, usd: keys * monthly.key },
    {
      what: 'Metrics of alarms',
      count: `${alarmMetrics} in ${alarms.length} alarms`,
      usd: alarmMetrics * monthly.alarmMetric,
      freeUsd: Math.min(alarmMetrics, monthly.freeAlarmMetrics) * monthly.alarmMetric,
    },
    {
      what: 'Dashboard',
      count: `${dashboards.join(', ')} metrics; up to ${monthly.freeDashboardMetrics} are free`,
      usd: billed * monthly.dashboard,
    },
    { what: 'Sweep, Lambda', count: `${Math.round(sweeps)} invocations`, usd: lambda, freeUsd: lambda },
    {
      what: 'Sweep, DynamoDB reads',
      count: `${Math.round(sweeps * sweepReadUnits)} units`,
      usd: sweeps * sweepReadUnits * prices.readUnit,
    },
    {
      what: 'Requests to KMS',
      count: `${Math.round(everyMinute * keyRequests)}`,
      usd: everyMinute * keyRequests * prices.kmsRequest,
      freeUsd: everyMinute * keyRequests * prices.kmsRequest,
    },
    { what: 'Image in ECR', count: `${assumed.imageGb} GB`, usd: assumed.imageGb * monthly.imageGb },
  ];
};

/** Resources billed by the hour or month regardless of use, and missing in the list above. */
export const otherStandingCosts = (template: Template): string[] => {
  const types =
    /^AWS::(EC2::(NatGateway|VPCEndpoint|EIP)|ECS::Service|ElasticLoadBalancingV2|RDS|SecretsManager|Lambda::(Version|Alias)|WAFv2)/;
  return Object.entries(template.Resources)
    .filter(([, { Type, Properties }]) => types.test(Type) && Properties?.VpcEndpointType !== 'Gateway')
    .map(([id, { Type }]) => `${Type} ${id}`);
};
