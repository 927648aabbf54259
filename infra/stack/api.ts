import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Aws } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Settings } from '#infra/settings/settings.ts';
import { acknowledge } from './acknowledge.ts';
import type { ApiRoute } from './api-routes.ts';
import type { HttpDeclaration } from './declaration.ts';
import { type HttpFunction, httpFunctions } from './functions.ts';
import { removalPolicy } from './storage.ts';
import { vendedLogName } from './vended-log.ts';

/**
 * Requests per second. An account has 10,000 (burst 5,000) for all of its APIs, 2,500 (1,250) in the younger regions (API
 * Gateway: quotas): the public API stays well below the less of them, so that logs and runners always find room; a client
 * that polls a log dies of a single 429, and a runner must beat.
 */
const publicLimit = { rate: 1_200, burst: 600 };
const noLimit = { rate: 2_500, burst: 1_250 };

/** The HTTP API. Made before the functions, because some of them need to know its URL. */
export class HttpApi extends Construct {
  /** Without a slash at the end. */
  readonly url: string;
  readonly apiId: string;
  readonly accessLog: logs.LogGroup;
  readonly #routes: apigateway.CfnRoute[] = [];

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const api = new apigateway.CfnApi(this, 'Api', {
      name: Aws.STACK_NAME,
      description: 'Stepform: HCP Terraform API v2, logs, runner protocol, web page',
      protocolType: 'HTTP',
    });
    this.apiId = api.ref;
    this.url = api.attrApiEndpoint;
    this.accessLog = new logs.LogGroup(this, 'AccessLog', {
      logGroupName: vendedLogName('api'),
      retention: settings.logRetentionDays,
      removalPolicy: removalPolicy(settings),
    });
  }

  connect(routes: ApiRoute[], targets: Record<HttpFunction, lambda.IFunction>): void {
    for (const [name, target] of Object.entries(targets) as [HttpFunction, lambda.IFunction][])
      this.#connect(name, target, routes);
    const stage = new apigateway.CfnStage(this, 'Stage', {
      apiId: this.apiId,
      stageName: '$default',
      autoDeploy: true,
      accessLogSettings: { destinationArn: this.accessLog.logGroupArn, format: JSON.stringify(accessLogFormat) },
      defaultRouteSettings: { throttlingRateLimit: publicLimit.rate, throttlingBurstLimit: publicLimit.burst },
      routeSettings: Object.fromEntries(
        routes
          .filter(({ target }) => declared(target).http.unlimited)
          .map(({ key }) => [key, { ThrottlingRateLimit: noLimit.rate, ThrottlingBurstLimit: noLimit.burst }]),
      ),
    });
    // A stage may only name routes that exist.
    for (const route of this.#routes) stage.addResourceDependency(route);
  }

  #connect(name: HttpFunction, target: lambda.IFunction, routes: ApiRoute[]): void {
    const integration = new apigateway.CfnIntegration(this, `${name}Integration`, {
      apiId: this.apiId,
      integrationType: 'AWS_PROXY',
      integrationUri: target.functionArn,
      payloadFormatVersion: '2.0',
      timeoutInMillis: 30_000,
    });
    new lambda.CfnPermission(this, `${name}Permission`, {
      action: 'lambda:InvokeFunction',
      functionName: target.functionArn,
      principal: 'apigateway.amazonaws.com',
      sourceArn: `arn:${Aws.PARTITION}:execute-api:${Aws.REGION}:${Aws.ACCOUNT_ID}:${this.apiId}/*/*`,
    });
    for (const { key } of routes.filter((route) => route.target === name)) {
      // Named by its key: a route that comes or goes renames no other, whose key could not be there twice.
      const route = new apigateway.CfnRoute(this, key, {
        apiId: this.apiId,
        routeKey: key,
        target: `integrations/${integration.ref}`,
      });
      acknowledge(route, { APIG4: declared(name).http.authorization });
      this.#routes.push(route);
    }
  }
}

const declared = (name: HttpFunction): HttpDeclaration => httpFunctions[name];

/** The route instead of the path: paths of logs are capabilities. */
const accessLogFormat = {
  time: '$context.requestTime',
  requestId: '$context.requestId',
  ip: '$context.identity.sourceIp',
  route: '$context.routeKey',
  status: '$context.status',
  bytes: '$context.responseLength',
  ms: '$context.responseLatency',
  functionMs: '$context.integrationLatency',
  error: '$context.integrationErrorMessage',
  userAgent: '$context.identity.userAgent',
};
