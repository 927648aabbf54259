import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Aws, Fn } from 'aws-cdk-lib/core';
import { Construct, type IDependable } from 'constructs';
import { environmentBuildRoutes } from '#infra/functions/environment-builds.ts';
import { environmentFileRoutes } from '#infra/functions/environment-files.ts';
import { environmentGovernanceRoutes } from '#infra/functions/environment-governance.ts';
import { templateRoutes } from '#infra/functions/environment-templates.ts';
import type { Settings } from '#infra/settings/settings.ts';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import type { BodyRoute } from './api-body.ts';
import { documentApi } from './document-api.ts';
import { onlyDomain } from './domain-settings.ts';
import { serveAt } from './domains.ts';
import type { PlatformFunction } from './function.ts';
import { httpStage } from './http-stage.ts';
import { removalPolicy } from './storage.ts';
import { vendedLogName } from './vended-log.ts';

/** Far below an account's quota for all of its APIs (infra/stack/api.ts). */
const limit = { rate: 300, burst: 150 };

const httpLog = {
  time: '$context.requestTime',
  requestId: '$context.requestId',
  ip: '$context.identity.sourceIp',
  route: '$context.routeKey',
  status: '$context.status',
  ms: '$context.responseLatency',
  error: '$context.integrationErrorMessage',
};

const stageName = 'logs';

const keys = <T extends string>(target: T, all: string[]) => all.map((key) => ({ key, target }));

/**
 * Routes of the environments' host. They have no authorizers: the functions check tokens, and build info and similar
 * routes are public by contract.
 */
const routes = [
  { key: '$default', target: 'Environments' },
  ...keys('EnvironmentBuilds', environmentBuildRoutes),
  ...keys('EnvironmentTemplates', templateRoutes),
  ...keys('EnvironmentFiles', environmentFileRoutes),
  ...keys('EnvironmentGovernance', environmentGovernanceRoutes),
] as const satisfies BodyRoute[];

export type EnvironmentFunction = (typeof routes)[number]['target'];
export const environmentFunctionIds = [...new Set(routes.map(({ target }) => target))];

export interface EnvironmentApiProps {
  settings: Settings;
  /** Of the platform. */
  name: string;
  /** Role with which API Gateway invokes functions. */
  roleArn: string;
}

/**
 * The environments' own host, because their API and HCP Terraform's both use /api/v2, and the WebSocket API that
 * streams logs (decisions/0040). Idle, neither costs anything.
 */
export class EnvironmentApi extends Construct {
  /** Without a trailing slash. */
  readonly url: string;
  /** URL for clients, and URL for posting messages to them. */
  readonly socketUrl: string;
  readonly connectionsArn: string;
  readonly #http: apigateway.CfnApi;
  readonly #socketId: string;
  readonly #accessLog: logs.LogGroup;
  readonly #roleArn: string;
  readonly #settings: Settings;

  constructor(scope: Construct, id: string, { settings, name, roleArn }: EnvironmentApiProps) {
    super(scope, id);
    this.#roleArn = roleArn;
    this.#settings = settings;
    const { environmentsDomainName: domainName } = settings;
    this.#http = documentApi(this, 'Http', {
      title: `${name}-environments`,
      description: "Stepform: environments (Coder's API)",
      routes,
      roleArn,
      more: onlyDomain(domainName, settings),
    });
    const sockets = new apigateway.CfnApi(this, 'Sockets', {
      name: `${name}-environment-logs`,
      description: 'Stepform: log streams of environments',
      protocolType: 'WEBSOCKET',
      routeSelectionExpression: '$request.body.action',
    });
    this.#socketId = sockets.ref;
    this.url = domainName === undefined ? this.#http.attrApiEndpoint : `https://${domainName}`;
    const host = Fn.join('', ['https://', sockets.ref, '.execute-api.', Aws.REGION, '.', Aws.URL_SUFFIX]);
    this.socketUrl = `${host}/${stageName}`;
    this.connectionsArn = `arn:${Aws.PARTITION}:execute-api:${Aws.REGION}:${Aws.ACCOUNT_ID}:${sockets.ref}/${stageName}/*/@connections/*`;
    this.#accessLog = new logs.LogGroup(this, 'AccessLog', {
      logGroupName: vendedLogName(name, 'environments'),
      retention: settings.logRetentionDays,
      removalPolicy: removalPolicy(settings),
    });
  }

  connect(
    targets: Record<EnvironmentFunction, lambda.IFunction>,
    delivery: PlatformFunction,
    invocation: IDependable,
  ): void {
    const logging = { accessLog: this.#accessLog, logFormat: httpLog };
    const stage = httpStage(this, 'HttpStage', { api: this.#http, targets, invocation, limit, ...logging });
    const { environmentsDomainName: domainName } = this.#settings;
    if (domainName !== undefined) serveAt(this, domainName, stage, this.#settings);
    this.#connectSockets(delivery, invocation);
  }

  #connectSockets(delivery: PlatformFunction, invocation: IDependable): void {
    const integration = new apigateway.CfnIntegration(this, 'ConnectIntegration', {
      apiId: this.#socketId,
      integrationType: 'AWS_PROXY',
      integrationUri: `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${delivery.function.functionArn}/invocations`,
      credentialsArn: this.#roleArn,
    });
    const connect = new apigateway.CfnRoute(this, 'ConnectRoute', {
      apiId: this.#socketId,
      routeKey: '$connect',
      target: `integrations/${integration.ref}`,
    });
    acknowledge(connect, {
      APIG4: 'The function checks the ticket, which is valid once, for one job and for one minute.',
    });
    const stage = new apigateway.CfnStage(this, 'SocketStage', {
      apiId: this.#socketId,
      stageName,
      autoDeploy: true,
      defaultRouteSettings: { throttlingRateLimit: limit.rate, throttlingBurstLimit: limit.burst },
    });
    acknowledge(stage, {
      APIG1:
        "On a WebSocket stage an access log needs API Gateway's account-wide CloudWatch role, which a new account lacks: its deployment would fail (aws-cdk #33977). The function logs its responses.",
    });
    stage.node.addDependency(connect, invocation);
    // A separate policy, because the function depends on the role's own one.
    const again = new iam.Policy(this, 'DeliverLater', {
      statements: [
        new iam.PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [delivery.function.functionArn] }),
        new iam.PolicyStatement({ actions: ['execute-api:ManageConnections'], resources: [this.connectionsArn] }),
      ],
      roles: [delivery.role],
    });
    acknowledgeWildcard(again, this.connectionsArn, 'Connections of this one API; API Gateway generates their ids.');
  }
}
