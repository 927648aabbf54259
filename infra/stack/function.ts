import { dirname } from 'node:path';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { acknowledgeWildcard } from './acknowledge.ts';
import type { Declaration } from './declaration.ts';
import type { FunctionNetwork } from './function-network.ts';
import { type Permission, statement } from './grants.ts';

export interface PlatformFunctionProps {
  declaration: Declaration;
  /** Log group of its class (function-logs.ts). */
  logGroup: logs.LogGroup;
  /** Absolute path of its bundle. */
  bundle: string;
  environment: Record<string, string>;
  permissions: Permission[];
  /** Absent: none, with access to public addresses only. */
  network?: FunctionNetwork | undefined;
}

/** The construct of every function: one bundle, one role. */
export class PlatformFunction extends Construct {
  readonly function: lambda.Function;
  readonly role: iam.Role;

  constructor(scope: Construct, id: string, props: PlatformFunctionProps) {
    super(scope, id);
    const own: Permission = {
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [props.logGroup.logGroupArn],
    };
    const permissions = [...props.permissions, ...(props.network?.permissions ?? [])];
    this.role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      description: `Stepform: ${id}`,
      inlinePolicies: {
        Function: new iam.PolicyDocument({ statements: [own, ...permissions].map(statement) }),
      },
    });
    for (const { wildcard, resources } of permissions) {
      if (wildcard) for (const resource of resources) acknowledgeWildcard(this.role, resource, wildcard);
    }
    const { description, timeoutSeconds, memoryMiB = 512, recursion } = props.declaration;
    this.function = new lambda.Function(this, 'Function', {
      description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      code: lambda.Code.fromAsset(dirname(props.bundle)),
      handler: 'index.handler',
      role: this.role,
      logGroup: props.logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      // START, END and REPORT lines of each call would cost more than the calls; failures are still logged.
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
      // Lambda allots processor time by memory: less memory makes starts slower without saving anything.
      memorySize: memoryMiB,
      timeout: Duration.seconds(timeoutSeconds),
      environment: props.environment,
      recursiveLoop: recursion ? lambda.RecursiveLoop.ALLOW : undefined,
    });
    // On the resource itself: the construct would need the whole network, from a lookup with credentials.
    if (props.network) (this.function.node.defaultChild as lambda.CfnFunction).vpcConfig = props.network.config;
  }
}
