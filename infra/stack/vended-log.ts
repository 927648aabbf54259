import { Aws, Fn } from 'aws-cdk-lib/core';

/**
 * Name of a log group that AWS's log delivery writes to. The prefix keeps CloudWatch Logs' one resource policy of the account
 * below its 5,120 characters: without it each group is a line of that policy, and a deployment fails when it is full
 * (CloudWatch Logs: enabling logging from AWS services; aws-cdk #28900). The stack's own id, which no other stack ever has, keeps a group that outlives its
 * stack out of the way of the next deployment.
 */
export const vendedLogName = (purpose: string): string =>
  `/aws/vendedlogs/${Aws.STACK_NAME}/${purpose}/${Fn.select(2, Fn.split('/', Aws.STACK_ID))}`;
