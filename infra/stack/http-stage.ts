import { createHash } from 'node:crypto';
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { Stack } from 'aws-cdk-lib/core';
import type { Construct, IDependable } from 'constructs';

interface Limit {
  /** Requests per second. */
  rate: number;
  burst: number;
}

export interface HttpStageProps {
  api: apigateway.CfnApi;
  /** Function names by stage variable, as in the integrations of the API's document. */
  targets: Record<string, lambda.IFunction>;
  accessLog: logs.LogGroup;
  /** Fields of an access log line, by name. */
  logFormat: Record<string, string>;
  limit: Limit;
  /** Throttling by route key. */
  routeLimits?: Record<string, Limit>;
  /** The policy that allows API Gateway to invoke the functions. */
  invocation: IDependable;
}

/**
 * The stage of an HTTP API. It does not deploy automatically: CloudFormation imports a changed document before new
 * functions exist, while requests still use the previous deployment. Then one call gives the stage the new routes and
 * their functions.
 */
export const httpStage = (scope: Construct, id: string, props: HttpStageProps): apigateway.CfnStage => {
  const { accessLog, api, invocation, limit, logFormat, routeLimits = {}, targets } = props;
  // Deployments are immutable (API Gateway: deployments), so each document has its own.
  const document = createHash('sha256').update(JSON.stringify(Stack.of(scope).resolve(api.body)));
  const deployment = new apigateway.CfnDeployment(scope, `Deployment${document.digest('hex').slice(0, 8)}`, {
    apiId: api.ref,
  });
  const stage = new apigateway.CfnStage(scope, id, {
    apiId: api.ref,
    stageName: '$default',
    deploymentId: deployment.ref,
    stageVariables: Object.fromEntries(Object.entries(targets).map(([id, target]) => [id, target.functionName])),
    accessLogSettings: { destinationArn: accessLog.logGroupArn, format: JSON.stringify(logFormat) },
    defaultRouteSettings: { throttlingRateLimit: limit.rate, throttlingBurstLimit: limit.burst },
    routeSettings: Object.fromEntries(
      Object.entries(routeLimits).map(([key, { rate, burst }]) => [
        key,
        { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst },
      ]),
    ),
  });
  stage.node.addDependency(invocation);
  return stage;
};
