import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Aws, Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import { lastingPrefixes } from './bucket-rules.ts';
import { Dashboard } from './dashboard.ts';
import type { Counts, OperationsProps } from './operations-props.ts';
import { replicationRule } from './replication.ts';
import { removalPolicy } from './storage.ts';
import { vendedLogName } from './vended-log.ts';

/**
 * Counted in the access log (api.ts). A function also answers 503 for "not yet", which clients retry; if API Gateway
 * answers 503 for a function that timed out or was throttled, `error` has the reason.
 */
const failedRequests = logs.FilterPattern.literal('{ $.status = "5*" && ($.status != "503" || $.error != "-") }');

const period = Duration.minutes(5);

interface AlarmOptions {
  threshold?: number;
  periods?: number;
  /** Fires when the metric stays below the threshold, or away. */
  isMissing?: boolean;
}

/** Monitoring for operators: the executions' log, alarms, a dashboard. */
export class Operations extends Construct {
  readonly #props: OperationsProps;
  readonly #topics: sns.ITopic[];

  constructor(scope: Construct, id: string, props: OperationsProps) {
    super(scope, id);
    this.#props = props;
    const history = this.#keepHistory();
    this.#topics = this.#alarmTopics();
    const counts = this.#counts();
    const { functions, machine, lostEvents } = props;

    this.#alarm(
      'ExecutionsFailed',
      'Executions failed. The sweep or an event ended their runs, but the cause is in the platform, not in a configuration.',
      machine.metricFailed({ period }),
    );
    this.#alarm(
      'PlatformFaults',
      'Runs ended as errored because of the platform, not of a configuration (a bug, a missing right, a service that refuses: RunTask, KMS), or the sweep could not repair something: a run or a queue may be stuck until it succeeds. Search "platform fault" in the log of lifecycle functions, "repair failed" in that of the sweep.',
      counts.faults,
    );
    this.#alarm(
      'TableThrottles',
      'The table refuses requests: a partition is too busy, or the table reached its quota. Functions repeat them for some seconds, then requests fail.',
      sum(
        {
          a: props.table.metric('ReadThrottleEvents', { statistic: 'Sum' }),
          b: props.table.metric('WriteThrottleEvents', { statistic: 'Sum' }),
        },
        'Throttled reads and writes of the table',
      ),
      { periods: 3 },
    );
    this.#alarm(
      'ApiErrors',
      'Requests of clients, runners or agents failed with an internal error. The access log has the request, the log of the function behind its route has the cause.',
      counts.apiErrors,
    );
    // It reads the table every minute, so it also fails within minutes if the key is disabled or pending deletion: KMS has
    // no metric for that, and its API calls reach EventBridge only in accounts with a trail (EventBridge: service events
    // delivered via CloudTrail). DynamoDB passes on the error of KMS (aws-cdk #18616).
    this.#alarm(
      'SweepFailed',
      'The sweep failed: runs and queues that were left behind stay so until it succeeds. If its log has "KMS key access denied", the key of table and bucket is disabled or pending deletion, and every request fails: run aws kms cancel-key-deletion, then aws kms enable-key. After seven days DynamoDB archives the table.',
      functions.Sweep.function.metricErrors({ period }),
    );
    this.#alarm(
      'FunctionThrottles',
      'Functions in this account and region are throttled: its Lambda concurrency is used up, and requests of clients and runners fail. Request a higher quota (Service Quotas, Lambda: concurrent executions).',
      lambda.Function.metricAllThrottles({ period }),
    );
    this.#alarm(
      'LostEvents',
      'Events could not be handled. The sweep repairs their runs; read the queue to see why, then purge it.',
      lostEvents.metricApproximateNumberOfMessagesVisible({ statistic: 'max' }),
    );
    this.#alarm(
      'SweepRepairs',
      'The sweep keeps finding runs or queues that were left behind: an event source or a handler does not work.',
      counts.repairs,
      { threshold: 5, periods: 3 },
    );
    this.#watchCopies();
    new Dashboard(this, 'Dashboard', { ...props, history, counts });
  }

  /** Alarms for copies outside, if the operator chose any: a backup that stops is noticed before it is needed. */
  #watchCopies(): void {
    const { bucket, backupVaultName, settings } = this.#props;
    if (backupVaultName)
      this.#alarm(
        'BackupMissing',
        'No copy of the table reached the vault of backupVaultArn for two days, or since it was set. AWS Backup lists its jobs with the reasons.',
        new cloudwatch.Metric({
          namespace: 'AWS/Backup',
          metricName: 'NumberOfCopyJobsCompleted',
          dimensionsMap: { BackupVaultName: backupVaultName },
          statistic: 'Sum',
          period: Duration.days(1),
        }),
        { periods: 2, isMissing: true },
      );
    const { replicaBucketArn } = settings;
    if (!replicaBucketArn) return;
    const failed = lastingPrefixes.map((prefix): [string, cloudwatch.IMetric] => [
      prefix,
      new cloudwatch.Metric({
        namespace: 'AWS/S3',
        metricName: 'OperationsFailedReplication',
        dimensionsMap: {
          SourceBucket: bucket.bucketName,
          DestinationBucket: replicaBucketArn.split(':::')[1] ?? '',
          RuleId: replicationRule(prefix),
        },
        statistic: 'Sum',
      }),
    ]);
    this.#alarm(
      'ReplicationFailed',
      'S3 could not copy objects into the bucket of replicaBucketArn: check its policy, its versioning and the key of replicaKeyArn. S3 does not try these objects again (S3 Batch Replication does).',
      sum(Object.fromEntries(failed), 'Objects that were not copied'),
    );
  }

  /** Every event of every execution without its data, kept longer than the 90 days of Step Functions. */
  #keepHistory(): logs.LogGroup {
    const { machine, name, settings } = this.#props;
    const history = new logs.LogGroup(this, 'Executions', {
      logGroupName: vendedLogName(name, 'executions'),
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
      'Log deliveries have no resource type (service authorization reference: CloudWatch Logs); without these Step Functions writes no log.',
    );
    acknowledge(machine, {
      SF2: 'A run waits for users for hours: its trace contains less than its history, and is billed per segment.',
    });
    return history;
  }

  #alarmTopics(): sns.ITopic[] {
    const { alarmEmail, alarmTopicArn } = this.#props.settings;
    return [
      ...(alarmEmail ? [this.#mailTopic(alarmEmail)] : []),
      ...(alarmTopicArn ? [sns.Topic.fromTopicArn(this, 'AlarmTopic', alarmTopicArn)] : []),
    ];
  }

  /**
   * Not encrypted with the platform's key: alarms must reach the operator when that key is disabled. AWS's own key for SNS
   * does not let CloudWatch publish (re:Post: CloudWatch alarms and encrypted topics).
   */
  #mailTopic(address: string): sns.Topic {
    const topic = new sns.Topic(this, 'Alarms', { enforceSSL: true });
    acknowledge(topic, {
      SNS2: 'Alarms contain names and fixed texts, and must be sent when the key is unusable. Companies that encrypt every topic use their own (alarmTopicArn).',
    });
    // An explicit policy replaces the default one, which lets every principal in the account publish (SNS: access
    // policy).
    topic.addToResourcePolicy(
      new iam.PolicyStatement({
        principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    topic.addSubscription(new EmailSubscription(address));
    return topic;
  }

  #counts(): Counts {
    const { api, sweepLog: sweep, lifecycleLog } = this.#props;
    const failedRepair = logs.FilterPattern.allTerms('repair failed');
    // Each metric of an alarm has a price, so the two share one.
    this.#count('FailedRepairs', sweep, failedRepair, '', 'PlatformFaults');
    return {
      apiErrors: this.#count('ApiErrors', api.accessLog, failedRequests, 'Internal errors of the API'),
      repairs: this.#count('SweepRepairs', sweep, logs.FilterPattern.allTerms('repaired'), 'Repairs by the sweep'),
      faults: this.#count(
        'PlatformFaults',
        lifecycleLog,
        logs.FilterPattern.allTerms('platform fault'),
        'Runs ended by the platform, and failed repairs',
      ),
    };
  }

  #count(
    name: string,
    logGroup: logs.LogGroup,
    filterPattern: logs.IFilterPattern,
    label: string,
    metricName = name,
  ): cloudwatch.Metric {
    const filter = new logs.MetricFilter(this, `${name}Filter`, {
      logGroup,
      filterPattern,
      metricNamespace: `Stepform/${this.#props.name}`,
      metricName,
      metricValue: '1',
    });
    return filter.metric({ statistic: 'sum', label, period });
  }

  #alarm(
    name: string,
    description: string,
    metric: cloudwatch.IMetric,
    { threshold = 1, periods = 1, isMissing = false }: AlarmOptions = {},
  ): void {
    const alarm = new cloudwatch.Alarm(this, name, {
      alarmDescription: `${this.#props.name}: ${description}`,
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: isMissing
        ? cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
        : cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: isMissing ? cloudwatch.TreatMissingData.BREACHING : cloudwatch.TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(...this.#topics.map((topic) => new SnsAction(topic)));
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
