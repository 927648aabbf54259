import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Aws } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { apiRoutes, type Target } from './api-routes.ts';
import type { Settings } from './settings.ts';
import { removalPolicy } from './storage.ts';

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
      retention: settings.logRetentionDays,
      removalPolicy: removalPolicy(settings),
    });
  }

  connect(targets: Record<Target, lambda.IFunction>): void {
    for (const [name, target] of Object.entries(targets)) this.#connect(name as Target, target);
    const stage = new apigateway.CfnStage(this, 'Stage', {
      apiId: this.apiId,
      stageName: '$default',
      autoDeploy: true,
      accessLogSettings: { destinationArn: this.accessLog.logGroupArn, format: JSON.stringify(accessLogFormat) },
      defaultRouteSettings: { throttlingRateLimit: publicLimit.rate, throttlingBurstLimit: publicLimit.burst },
      routeSettings: Object.fromEntries(
        apiRoutes
          .filter(({ target }) => target === 'Logs' || target === 'Runner')
          .map(({ key }) => [key, { ThrottlingRateLimit: noLimit.rate, ThrottlingBurstLimit: noLimit.burst }]),
      ),
    });
    // A stage may only name routes that exist.
    for (const route of this.#routes) stage.addResourceDependency(route);
  }

  #connect(name: Target, target: lambda.IFunction): void {
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
    apiRoutes
      .filter((route) => route.target === name)
      .forEach(({ key }, i) => {
        const route = new apigateway.CfnRoute(this, `${name}Route${i || ''}`, {
          apiId: this.apiId,
          routeKey: key,
          target: `integrations/${integration.ref}`,
        });
        acknowledge(route, { APIG4: authorization[name] });
        this.#routes.push(route);
      });
  }
}

const bearer =
  'The function checks bearer tokens (stored hashed) and permissions itself: clients of the HCP Terraform API bring no IAM or JWT credentials';

const authorization: Record<Target, string> = {
  Api: `${bearer}, and discovery is public by contract.`,
  States: `${bearer}.`,
  Access: `${bearer}.`,
  SignIn: 'Signing in is public by its nature: the function checks codes, verifiers and what the issuer signed.',
  Settings: `${bearer}.`,
  Governance: `${bearer}, nor do run tasks.`,
  Identity:
    'Discovery and public keys are for everybody who is to verify a token: AWS, Google Cloud, Azure and Vault ask without credentials (OpenID Connect Discovery 1.0).',
  Logs: 'The path carries a 256-bit capability: clients of the HCP Terraform API send no token to a log URL (api: log-read-url).',
  Web: 'The page and its scripts hold no data and are the same for everybody; what they show comes from the API, with the reader’s own token.',
  Agent: 'The function checks the token of an agent pool (stored hashed); agents have no other credentials.',
  Runner: 'The function checks the claim or token of one run and phase; runners have no other credentials by design.',
};

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
