import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Aws, Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import { Dashboard } from './dashboard.ts';
import type { PlatformFunction } from './function.ts';
import type { FunctionId } from './functions.ts';
import type { Settings } from './settings.ts';
import { removalPolicy } from './storage.ts';

export interface OperationsProps {
  settings: Settings;
  functions: Record<FunctionId, PlatformFunction>;
  machine: sfn.StateMachine;
  lostEvents: sqs.Queue;
  apiId: string;
  key: kms.Key;
}

/**
 * Functions whose errors show nowhere else: those of a state's function delay or end its execution, and events that
 * stay unhandled end in the queue of lost events.
 */
const watched = [
  'Api',
  'States',
  'Access',
  'SignIn',
  'Settings',
  'Governance',
  'Logs',
  'Runner',
  'Sweep',
] as const satisfies FunctionId[];

const period = Duration.minutes(5);

/** What tells an operator how the platform does: the executions' log, alarms, a dashboard. */
export class Operations extends Construct {
  readonly #props: OperationsProps;
  readonly #topic: sns.Topic | undefined;

  constructor(scope: Construct, id: string, props: OperationsProps) {
    super(scope, id);
    this.#props = props;
    const history = this.#keepHistory();
    this.#topic = this.#alarmTopic();
    const repairs = this.#repairs();
    const { machine, lostEvents } = props;

    this.#alarm(
      'ExecutionsFailed',
      'Executions failed or timed out: their runs were ended by the sweep or an event, but something is wrong with the platform, not with a configuration.',
      sum({ a: machine.metricFailed(), b: machine.metricTimedOut() }, 'Executions failed or timed out'),
    );
    this.#alarm(
      'FunctionErrors',
      'Functions that answer clients and runners, or the sweep, fail.',
      this.#ofFunctions('Errors'),
    );
    this.#alarm(
      'FunctionThrottles',
      'Functions are throttled: the account’s Lambda concurrency is used up, clients and runners are turned away.',
      this.#ofFunctions('Throttles'),
    );
    this.#alarm(
      'LostEvents',
      'Events could not be handled. The sweep repairs their runs; read the queue to see why, then purge it.',
      lostEvents.metricApproximateNumberOfMessagesVisible({ statistic: 'max' }),
    );
    this.#alarm(
      'SweepRepairs',
      'The sweep keeps finding runs or queues that were left behind: an event source or a handler does not do its work.',
      repairs,
      { threshold: 5, periods: 3 },
    );
    new Dashboard(this, 'Dashboard', { ...props, history, repairs });
  }

  /** Every event of every execution without its data, beyond the 90 days that Step Functions keeps them. */
  #keepHistory(): logs.LogGroup {
    const { machine, settings } = this.#props;
    const history = new logs.LogGroup(this, 'Executions', {
      retention: settings.logRetentionDays,
      removalPolicy: removalPolicy(settings),
    });
    (machine.node.defaultChild as sfn.CfnStateMachine).loggingConfiguration = {
      level: 'ALL',
      includeExecutionData: false,
      destinations: [{ cloudWatchLogsLogGroup: { logGroupArn: history.logGroupArn } }],
    };
    machine.addToRolePolicy(
      new iam.PolicyStatement({
        actions: [
          'logs:CreateLogDelivery',
          'logs:GetLogDelivery',
          'logs:UpdateLogDelivery',
          'logs:DeleteLogDelivery',
          'logs:ListLogDeliveries',
          'logs:PutResourcePolicy',
          'logs:DescribeResourcePolicies',
          'logs:DescribeLogGroups',
        ],
        resources: ['*'],
      }),
    );
    acknowledgeWildcard(
      machine,
      '*',
      'Log deliveries know no resource (service authorization reference: CloudWatch Logs); without these Step Functions writes no log.',
    );
    acknowledge(machine, {
      SF2: 'A run waits hours for people: a trace of it says less than its history, and is billed per segment.',
    });
    return history;
  }

  #alarmTopic(): sns.Topic | undefined {
    const { key, settings } = this.#props;
    if (!settings.alarmEmail) return undefined;
    const topic = new sns.Topic(this, 'Alarms', { masterKey: key, enforceSSL: true });
    key.addToResourcePolicy(
      new iam.PolicyStatement({
        principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
        resources: ['*'],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    topic.addSubscription(new EmailSubscription(settings.alarmEmail));
    return topic;
  }

  /** Counted from the log, so that a healthy platform publishes no metric and pays for none. */
  #repairs(): cloudwatch.Metric {
    const { logGroup } = this.#props.functions.Sweep;
    const filter = new logs.MetricFilter(this, 'RepairsFilter', {
      logGroup,
      filterPattern: logs.FilterPattern.allTerms('repaired'),
      metricNamespace: `Stepform/${Aws.STACK_NAME}`,
      metricName: 'SweepRepairs',
      metricValue: '1',
    });
    return filter.metric({ statistic: 'sum', label: 'Repairs by the sweep' });
  }

  #ofFunctions(name: 'Errors' | 'Throttles'): cloudwatch.IMetric {
    const { functions } = this.#props;
    const metrics = watched.map((id) => {
      const { function: fn } = functions[id];
      return [id.toLowerCase(), name === 'Errors' ? fn.metricErrors() : fn.metricThrottles()] as const;
    });
    return sum(Object.fromEntries(metrics), `Function ${name.toLowerCase()}`);
  }

  #alarm(
    name: string,
    description: string,
    metric: cloudwatch.IMetric,
    { threshold = 1, periods = 1 }: { threshold?: number; periods?: number } = {},
  ): void {
    const alarm = new cloudwatch.Alarm(this, name, {
      alarmDescription: `${Aws.STACK_NAME}: ${description}`,
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    });
    if (this.#topic) alarm.addAlarmAction(new SnsAction(this.#topic));
  }
}

const sum = (metrics: Record<string, cloudwatch.IMetric>, label: string): cloudwatch.MathExpression =>
  new cloudwatch.MathExpression({
    expression: Object.keys(metrics)
      .map((id) => `FILL(${id}, 0)`)
      .join(' + '),
    usingMetrics: metrics,
    label,
    period,
  });
