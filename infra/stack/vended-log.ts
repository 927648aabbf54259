import { Aws, Fn } from 'aws-cdk-lib/core';

/**
 * Name of a log group that AWS's log delivery writes to. The prefix keeps CloudWatch Logs' one resource policy of the
 * account below its 5,120 characters: without it, each log group adds a line to that policy, and a deployment fails
 * when it is full (CloudWatch Logs: enabling logging from AWS services; aws-cdk #28900). The stack id is unique, so a
 * log group that outlives its stack cannot conflict with the next deployment.
 */
export const vendedLogName = (platform: string, purpose: string): string =>
  `/aws/vendedlogs/${platform}/${purpose}/${Fn.select(2, Fn.split('/', Aws.STACK_ID))}`;
