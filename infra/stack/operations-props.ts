import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import type { Settings } from '#infra/settings/settings.ts';
import type { HttpApi } from './api.ts';
import type { PlatformFunction } from './function.ts';
import type { FunctionId } from './functions.ts';

export interface OperationsProps {
  settings: Settings;
  /** Of the platform. */
  name: string;
  functions: Record<FunctionId, PlatformFunction>;
  machine: sfn.StateMachine;
  lostEvents: sqs.Queue;
  api: HttpApi;
  sweepLog: logs.LogGroup;
  /** Of the functions of states. */
  lifecycleLog: logs.LogGroup;
  table: dynamodb.ITable;
  bucket: s3.IBucket;
  /** Of the vault that copies of the table leave; undefined without backups. */
  backupVaultName: string | undefined;
}

/** Metrics counted from logs, so that a healthy platform publishes no metric and pays for none. */
export interface Counts {
  /** Requests that failed with an internal error. */
  apiErrors: cloudwatch.IMetric;
  /** Repairs by the sweep. */
  repairs: cloudwatch.IMetric;
  /** Runs that the platform ended, and failed repairs. */
  faults: cloudwatch.IMetric;
}
