import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { startsRuns } from '#run/machine-states.ts';
import { slotGroup } from '#run/slots.ts';
import { acknowledge } from './acknowledge.ts';
import type { PlatformFunction } from './function.ts';

type Listener = 'ExecutionStopped' | 'RunApplied' | 'RunnerStopped' | 'ConfigurationUploaded' | 'StateUploaded';

/** Other functions call it without waiting for the result. */
const invoked = ['Notify', 'CommitStatus', 'FetchCommit', 'FetchProvider', 'VersionControlEvent'] as const;
type Invoked = (typeof invoked)[number];

/**
 * Undelivered events, and events whose function failed on its last attempt. The sweep repairs the runs; the alarm
 * informs the operator.
 */
export class LostEvents extends Construct {
  readonly queue: sqs.Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.queue = new sqs.Queue(this, 'Queue', {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    acknowledge(this.queue, { SQS3: 'This is the dead-letter queue.' });
  }
}

export interface EventsProps {
  functions: Record<Listener | Invoked | 'Sweep', PlatformFunction>;
  lost: LostEvents;
  stateMachineArn: string;
  clusterArn: string;
  bucketName: string;
}

/** Events and schedules that invoke functions. */
export class Events extends Construct {
  constructor(scope: Construct, id: string, props: EventsProps) {
    super(scope, id);
    this.#listen(props);
    this.#retryInvoked(props);
    this.#sweepEveryMinute(props);
  }

  #listen({ functions, lost, ...sources }: EventsProps): void {
    for (const [name, eventPattern] of Object.entries(patterns(sources))) {
      const { function: listener } = functions[name as Listener];
      new events.Rule(this, name, { eventPattern }).addTarget(
        new targets.LambdaFunction(listener, {
          deadLetterQueue: lost.queue,
          maxEventAge: Duration.hours(2),
          retryAttempts: 20,
        }),
      );
      // Delivery is not success: failures of the function are retried, then kept as well.
      new lambda.CfnEventInvokeConfig(this, `${name}Retries`, {
        functionName: listener.functionName,
        qualifier: '$LATEST',
        maximumRetryAttempts: 2,
        maximumEventAgeInSeconds: 3600,
        destinationConfig: { onFailure: { destination: lost.queue.queueArn } },
      });
    }
  }

  #retryInvoked({ functions }: EventsProps): void {
    // If a destination finally fails, its configuration shows that, and the sweep posts commit statuses that remain; an
    // operator can do nothing about either.
    for (const name of invoked) {
      new lambda.CfnEventInvokeConfig(this, `${name}Retries`, {
        functionName: functions[name].function.functionName,
        qualifier: '$LATEST',
        maximumRetryAttempts: 2,
        maximumEventAgeInSeconds: 3600,
      });
    }
  }

  #sweepEveryMinute({ functions }: EventsProps): void {
    const { function: sweep } = functions.Sweep;
    new events.Rule(this, 'EveryMinute', { schedule: events.Schedule.rate(Duration.minutes(1)) }).addTarget(
      new targets.LambdaFunction(sweep, { retryAttempts: 0, maxEventAge: Duration.minutes(1) }),
    );
    // The sweep of the next minute is the retry.
    new lambda.CfnEventInvokeConfig(this, 'SweepRetries', {
      functionName: sweep.functionName,
      qualifier: '$LATEST',
      maximumRetryAttempts: 0,
      maximumEventAgeInSeconds: 60,
    });
  }
}

const patterns = (sources: Omit<EventsProps, 'functions' | 'lost'>): Record<Listener, events.EventPattern> => ({
  ExecutionStopped: {
    source: ['aws.states'],
    detailType: ['Step Functions Execution Status Change'],
    detail: { stateMachineArn: [sources.stateMachineArn], status: ['FAILED', 'ABORTED', 'TIMED_OUT'] },
  },
  RunApplied: {
    source: ['aws.states'],
    detailType: ['Step Functions Execution Status Change'],
    detail: {
      stateMachineArn: [sources.stateMachineArn],
      status: ['SUCCEEDED'],
      // Most applies trigger nothing and cost no invocation: the finisher sends this event only when needed
      // (functions/lifecycle/states/complete.ts).
      output: [{ wildcard: `*"${startsRuns}"*` }],
    },
  },
  RunnerStopped: {
    source: ['aws.ecs'],
    detailType: ['ECS Task State Change'],
    detail: {
      clusterArn: [sources.clusterArn],
      lastStatus: ['STOPPED'],
      $or: [
        // A runner with exit code 0 needs no repair (functions/runner/program/program.ts); one that never started has no
        // exit code.
        { containers: { exitCode: [{ 'anything-but': [0] }, { exists: false }] } },
        // Its slot is free again.
        { group: [slotGroup] },
      ],
    },
  },
  ConfigurationUploaded: {
    source: ['aws.s3'],
    detailType: ['Object Created'],
    detail: { bucket: { name: [sources.bucketName] }, object: { key: [{ prefix: 'uploads/cv-' }] } },
  },
  StateUploaded: {
    source: ['aws.s3'],
    detailType: ['Object Created'],
    // The JSON form of a state is taken when it is read (functions/resources/states/json.ts).
    detail: { bucket: { name: [sources.bucketName] }, object: { key: [{ wildcard: 'uploads/sv-*.tfstate' }] } },
  },
});
