import { Aws } from 'aws-cdk-lib/core';
import type { Settings } from '#infra/settings/settings.ts';
import type { Permission } from './grants.ts';

/** The operator's network for functions that call out: private addresses are reachable from there only. */
export interface FunctionNetwork {
  config: { subnetIds: string[]; securityGroupIds: string[] };
  permissions: Permission[];
}

const interfaces = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

/**
 * Lambda uses the function's role for network interfaces. The function's own requests, which have its ARN, are denied
 * (Lambda: giving functions access to resources in a VPC, security best practices).
 */
const permissions = (): Permission[] => [
  {
    actions: interfaces,
    resources: ['*'],
    wildcard:
      'Lambda describes and creates network interfaces that do not exist yet; the function itself is denied to.',
  },
  {
    denied: true,
    actions: interfaces,
    resources: ['*'],
    conditions: {
      ArnLike: {
        'lambda:SourceFunctionArn': `arn:${Aws.PARTITION}:lambda:${Aws.REGION}:${Aws.ACCOUNT_ID}:function:*`,
      },
    },
  },
];

/** Undefined without the settings. */
export const functionNetwork = ({
  functionSubnetIds: subnetIds,
  functionSecurityGroupIds: securityGroupIds,
}: Settings): FunctionNetwork | undefined =>
  subnetIds?.length && securityGroupIds?.length
    ? { config: { subnetIds, securityGroupIds }, permissions: permissions() }
    : undefined;
