import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { endings } from '#run/machine-states.ts';
import type { FunctionId } from './functions.ts';
import type { Counts, OperationsProps } from './operations-props.ts';

export interface DashboardProps extends OperationsProps {
  /** Log of all executions' events. */
  history: logs.LogGroup;
  counts: Counts;
}

/**
 * Functions whose errors show nowhere else: errors of a state's function are in the graph of executions, and failed
 * events are lost events. A dashboard with up to 50 metrics is free, for any number of functions.
 */
const watched = [
  'Api',
  'Runs',
  'States',
  'Access',
  'Organizations',
  'SignIn',
  'Workspaces',
  'Settings',
  'Governance',
  'Policies',
  'Logs',
  'Runner',
  'Agent',
  'Sweep',
] as const satisfies FunctionId[];

const period = Duration.minutes(5);

/**
 * One page: run results, time per state, health of API and functions. For facts without a metric of Step Functions it
 * queries the executions' log, which costs only while the dashboard is open.
 */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    new cloudwatch.Dashboard(this, 'Dashboard', {
      widgets: [runs(props), platform(props), functionHealth(props)],
      defaultInterval: Duration.days(1),
    });
  }
}

const graph = (title: string, left: cloudwatch.IMetric[], right: cloudwatch.IMetric[] = []) =>
  new cloudwatch.GraphWidget({ title, left, right, width: 8, height: 6 });

const runs = ({ history }: DashboardProps): cloudwatch.IWidget[] => {
  const insights = (title: string, view: cloudwatch.LogQueryVisualizationType, queryLines: string[]) =>
    new cloudwatch.LogQueryWidget({
      title,
      view,
      queryLines,
      logGroupNames: [history.logGroupName],
      width: 8,
      height: 6,
    });
  return [
    insights('Runs by outcome', cloudwatch.LogQueryVisualizationType.STACKEDAREA, [
      `filter type = "TaskStateEntered" and details.name in ${JSON.stringify(Object.keys(endings))}`,
      'stats count(*) as runs by bin(1h), details.name',
    ]),
    insights('Seconds per state', cloudwatch.LogQueryVisualizationType.TABLE, [
      'fields @timestamp, execution_arn, details.name as state',
      'filter type in ["TaskStateEntered", "TaskStateExited"]',
      'stats (max(@timestamp) - min(@timestamp)) / 1000 as seconds by execution_arn, state',
      'stats count(*) as runs, avg(seconds) as average, pct(seconds, 50) as p50, pct(seconds, 95) as p95, max(seconds) as longest by state',
      'sort average desc',
    ]),
    insights('Queue: runs in and out', cloudwatch.LogQueryVisualizationType.LINE, [
      'filter details.name = "Pending"',
      'stats sum(strcontains(type, "StateEntered")) as queued, sum(strcontains(type, "StateExited")) as started by bin(1h)',
    ]),
  ];
};

const platform = ({ machine, lostEvents, counts, api: { apiId } }: DashboardProps): cloudwatch.IWidget[] => {
  const api = (metricName: string, statistic: string, label: string) =>
    new cloudwatch.Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      dimensionsMap: { ApiId: apiId },
      statistic,
      label,
      period,
    });
  return [
    graph(
      'Executions',
      [
        machine.metricStarted(),
        machine.metricSucceeded(),
        machine.metricFailed(),
        machine.metricTimedOut(),
        machine.metricAborted(),
      ].map((metric) => metric.with({ period })),
    ),
    graph(
      'API',
      [api('Count', 'sum', 'requests'), api('4xx', 'sum', '4xx'), api('5xx', 'sum', '5xx'), counts.apiErrors],
      [api('Latency', 'p50', 'p50 ms'), api('Latency', 'p99', 'p99 ms')],
    ),
    graph(
      'Repairs and lost events',
      [counts.repairs, counts.faults],
      [lostEvents.metricApproximateNumberOfMessagesVisible({ statistic: 'max', label: 'Lost events' })],
    ),
  ];
};

const functionHealth = ({ functions }: DashboardProps): cloudwatch.IWidget[] => [
  graph(
    'Errors of functions behind the API, and of the sweep',
    watched.map((id) => functions[id].function.metricErrors({ label: id, period })),
  ),
  graph(
    'Duration of these functions (p95 ms)',
    watched.map((id) => functions[id].function.metricDuration({ label: id, statistic: 'p95', period })),
  ),
  graph(
    'Concurrent functions in this account and region',
    [lambda.Function.metricAllConcurrentExecutions({ label: 'concurrent', statistic: 'max', period })],
    [lambda.Function.metricAllThrottles({ label: 'throttled', period })],
  ),
];
