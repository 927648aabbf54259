import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Aws, Fn } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { environmentBuildRoutes } from '#infra/functions/environment-builds.ts';
import { environmentFileRoutes } from '#infra/functions/environment-files.ts';
import { environmentGovernanceRoutes } from '#infra/functions/environment-governance.ts';
import { templateRoutes } from '#infra/functions/environment-templates.ts';
import type { Settings } from '#infra/settings/settings.ts';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import type { PlatformFunction } from './function.ts';
import { removalPolicy } from './storage.ts';
import { vendedLogName } from './vended-log.ts';

/** Well below what an account has for all of its APIs (infra/stack/api.ts). */
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

interface Targets {
  target: lambda.IFunction;
  builds: lambda.IFunction;
  templates: lambda.IFunction;
  files: lambda.IFunction;
  governance: lambda.IFunction;
  delivery: PlatformFunction;
}

/**
 * The environments' own host, because their API and HCP Terraform's both say /api/v2; and the WebSocket API that logs are
 * followed through (decisions/0040). Idle, neither costs anything.
 */
export class EnvironmentApi extends Construct {
  /** Without a slash at the end. */
  readonly url: string;
  /** Where clients connect and where messages to them are posted. */
  readonly socketUrl: string;
  readonly connectionsArn: string;
  readonly #apiId: string;
  readonly #socketId: string;
  readonly #accessLog: logs.LogGroup;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const http = new apigateway.CfnApi(this, 'Http', {
      name: `${Aws.STACK_NAME}-environments`,
      description: "Stepform: environments (Coder's API)",
      protocolType: 'HTTP',
    });
    const sockets = new apigateway.CfnApi(this, 'Sockets', {
      name: `${Aws.STACK_NAME}-environment-logs`,
      description: 'Stepform: logs of environments, followed',
      protocolType: 'WEBSOCKET',
      routeSelectionExpression: '$request.body.action',
    });
    this.#apiId = http.ref;
    this.#socketId = sockets.ref;
    this.url = http.attrApiEndpoint;
    const host = Fn.join('', ['https://', sockets.ref, '.execute-api.', Aws.REGION, '.', Aws.URL_SUFFIX]);
    this.socketUrl = `${host}/${stageName}`;
    this.connectionsArn = `arn:${Aws.PARTITION}:execute-api:${Aws.REGION}:${Aws.ACCOUNT_ID}:${sockets.ref}/${stageName}/*/@connections/*`;
    this.#accessLog = new logs.LogGroup(this, 'AccessLog', {
      logGroupName: vendedLogName('environments'),
      retention: settings.logRetentionDays,
      removalPolicy: removalPolicy(settings),
    });
  }

  connect({ target, builds, templates, files, governance, delivery }: Targets): void {
    const route = this.#route(
      'HttpRoute',
      this.#apiId,
      '$default',
      this.#integrate('Http', this.#apiId, target, '2.0'),
    );
    acknowledge(route, { APIG4: 'The function checks tokens itself; build info and the like are public by contract.' });
    this.#handOver('Builds', builds, environmentBuildRoutes);
    this.#handOver('Templates', templates, templateRoutes);
    this.#handOver('Files', files, environmentFileRoutes);
    this.#handOver('Governance', governance, environmentGovernanceRoutes);
    const stage = new apigateway.CfnStage(this, 'HttpStage', {
      apiId: this.#apiId,
      stageName: '$default',
      autoDeploy: true,
      accessLogSettings: { destinationArn: this.#accessLog.logGroupArn, format: JSON.stringify(httpLog) },
      defaultRouteSettings: { throttlingRateLimit: limit.rate, throttlingBurstLimit: limit.burst },
    });
    stage.addResourceDependency(route);
    this.#connectSockets(delivery);
  }

  #handOver(name: string, target: lambda.IFunction, routeKeys: string[]): void {
    const integration = this.#integrate(name, this.#apiId, target, '2.0');
    for (const [n, key] of routeKeys.entries()) {
      const route = this.#route(`${name}Route${n}`, this.#apiId, key, integration);
      acknowledge(route, { APIG4: 'The function checks tokens itself.' });
    }
  }

  #connectSockets(delivery: PlatformFunction): void {
    const integration = this.#integrate('Connect', this.#socketId, delivery.function, undefined);
    const connect = this.#route('ConnectRoute', this.#socketId, '$connect', integration);
    acknowledge(connect, { APIG4: 'The function checks the ticket, which is good once, for one job and one minute.' });
    const stage = new apigateway.CfnStage(this, 'SocketStage', {
      apiId: this.#socketId,
      stageName,
      autoDeploy: true,
      defaultRouteSettings: { throttlingRateLimit: limit.rate, throttlingBurstLimit: limit.burst },
    });
    acknowledge(stage, {
      APIG1:
        "On a WebSocket stage an access log needs API Gateway's account-wide CloudWatch role, which a new account lacks: its deployment would fail (aws-cdk #33977). The function logs what it answers.",
    });
    stage.addResourceDependency(connect);
    // Apart from the role's own policy, which the function waits for.
    const again = new iam.Policy(this, 'DeliverLater', {
      statements: [
        new iam.PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [delivery.function.functionArn] }),
        new iam.PolicyStatement({ actions: ['execute-api:ManageConnections'], resources: [this.connectionsArn] }),
      ],
      roles: [delivery.role],
    });
    acknowledgeWildcard(again, this.connectionsArn, 'Connections of this one API; API Gateway makes up their ids.');
  }

  #integrate(
    name: string,
    apiId: string,
    target: lambda.IFunction,
    payloadFormatVersion: '2.0' | undefined,
  ): apigateway.CfnIntegration {
    const uri =
      payloadFormatVersion === undefined
        ? `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${target.functionArn}/invocations`
        : target.functionArn;
    new lambda.CfnPermission(this, `${name}Permission`, {
      action: 'lambda:InvokeFunction',
      functionName: target.functionArn,
      principal: 'apigateway.amazonaws.com',
      sourceArn: `arn:${Aws.PARTITION}:execute-api:${Aws.REGION}:${Aws.ACCOUNT_ID}:${apiId}/*`,
    });
    return new apigateway.CfnIntegration(this, `${name}Integration`, {
      apiId,
      integrationType: 'AWS_PROXY',
      integrationUri: uri,
      ...(payloadFormatVersion === undefined ? {} : { payloadFormatVersion, timeoutInMillis: 30_000 }),
    });
  }

  #route(id: string, apiId: string, routeKey: string, { ref }: apigateway.CfnIntegration): apigateway.CfnRoute {
    return new apigateway.CfnRoute(this, id, { apiId, routeKey, target: `integrations/${ref}` });
  }
}
