import type * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct, type IDependable } from 'constructs';
import type { Settings } from '#infra/settings/settings.ts';
import type { ApiRoute } from './api-routes.ts';
import type { HttpDeclaration } from './declaration.ts';
import { documentApi } from './document-api.ts';
import { onlyDomain } from './domain-settings.ts';
import { serveAt } from './domains.ts';
import { type HttpFunction, httpFunctions } from './functions.ts';
import { httpStage } from './http-stage.ts';
import { removalPolicy } from './storage.ts';
import { vendedLogName } from './vended-log.ts';

/**
 * Requests per second. An account has 10,000 (burst 5,000) for all of its APIs, or 2,500 (1,250) in newer regions (API
 * Gateway: quotas). The public API stays well below the smaller quota, so that logs and runners always have capacity: a
 * client that polls a log fails on a single 429, and a runner must send heartbeats.
 */
const publicLimit = { rate: 1_200, burst: 600 };
const noLimit = { rate: 2_500, burst: 1_250 };

export interface HttpApiProps {
  settings: Settings;
  /** Of the platform. */
  name: string;
  routes: ApiRoute[];
  /** Role with which API Gateway invokes functions. */
  roleArn: string;
}

/** The HTTP API. Created before the functions, because some of them need its URL. */
export class HttpApi extends Construct {
  /** Without a trailing slash. */
  readonly url: string;
  readonly apiId: string;
  readonly accessLog: logs.LogGroup;
  readonly #api: apigateway.CfnApi;
  readonly #routes: ApiRoute[];
  readonly #settings: Settings;

  constructor(scope: Construct, id: string, { settings, name, routes, roleArn }: HttpApiProps) {
    super(scope, id);
    this.#routes = routes;
    this.#settings = settings;
    const { domainName } = settings;
    this.#api = documentApi(this, 'Api', {
      title: name,
      description: 'Stepform: HCP Terraform API v2, logs, runner protocol, web page',
      routes,
      roleArn,
      more: onlyDomain(domainName, settings),
    });
    this.apiId = this.#api.ref;
    this.url = domainName === undefined ? this.#api.attrApiEndpoint : `https://${domainName}`;
    this.accessLog = new logs.LogGroup(this, 'AccessLog', {
      logGroupName: vendedLogName(name, 'api'),
      retention: settings.logRetentionDays,
      removalPolicy: removalPolicy(settings),
    });
  }

  connect(targets: Record<HttpFunction, lambda.IFunction>, invocation: IDependable): void {
    const unlimited = this.#routes.filter(({ target }) => declared(target).http.unlimited);
    const stage = httpStage(this, 'Stage', {
      api: this.#api,
      targets,
      invocation,
      accessLog: this.accessLog,
      logFormat: accessLogFormat,
      limit: publicLimit,
      routeLimits: Object.fromEntries(unlimited.map(({ key }) => [key, noLimit])),
    });
    const { domainName } = this.#settings;
    if (domainName !== undefined) serveAt(this, domainName, stage, this.#settings);
  }
}

const declared = (name: HttpFunction): HttpDeclaration => httpFunctions[name];

/** The route in place of the path, because log paths are capabilities. */
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
