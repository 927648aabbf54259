import { Aws, Fn } from 'aws-cdk-lib/core';

/**
 * An HTTP API as one OpenAPI document, in API Gateway's own export format (HTTP APIs: OpenAPI definitions). As separate
 * resources, routes and integrations would take 200 of a stack's 500 resources, and as many calls to a control plane
 * that allows 10 per second.
 */

export interface BodyRoute {
  /** `ANY /api/v2/{proxy+}`, or `$default`. */
  key: string;
  /** Name of the stage variable that contains the function's name. */
  target: string;
}

export interface BodyProps {
  /** Name of the API. */
  title: string;
  description: string;
  routes: BodyRoute[];
  /** Role with which API Gateway invokes functions. */
  roleArn: string;
  /** Further fields of the document. */
  more?: object;
}

/** API Gateway's timeout; this is the maximum (HTTP APIs: quotas). */
const timeoutInMillis = 30_000;

const integrations = 'x-amazon-apigateway-integrations';

export const apiBody = ({ title, description, routes, roleArn, more }: BodyProps) => ({
  openapi: '3.0.1',
  info: { title, description, version: '1' },
  paths: Object.fromEntries(
    [...Map.groupBy(routes, ({ key }) => pathOf(key))].map(([path, all]) => [
      path,
      { ...Object.assign({}, ...all.map(operation)), ...parameters(path) },
    ]),
  ),
  components: {
    [integrations]: Object.fromEntries(
      [...new Set(routes.map(({ target }) => target))].map((target) => [target, integration(target, roleArn)]),
    ),
  },
  'x-amazon-apigateway-importexport-version': '1.0',
  ...more,
});

/**
 * A stage variable names the function (HTTP APIs: stage variables reference). It is set after the functions exist: they
 * need the API's URL, so the API cannot wait for them.
 */
const integration = (target: string, credentials: string) => ({
  type: 'aws_proxy',
  httpMethod: 'POST',
  payloadFormatVersion: '2.0',
  connectionType: 'INTERNET',
  timeoutInMillis,
  uri: Fn.join('', [
    `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/`,
    `arn:${Aws.PARTITION}:lambda:${Aws.REGION}:${Aws.ACCOUNT_ID}:function:`,
    `\${stageVariables.${target}}/invocations`,
  ]),
  credentials,
});

const defaultKey = '$default';
const pathOf = (key: string): string => (key === defaultKey ? `/${defaultKey}` : (key.split(' ')[1] ?? ''));

const operation = ({ key, target }: BodyRoute) => {
  const [method = ''] = key.split(' ');
  const name = method === 'ANY' || key === defaultKey ? 'x-amazon-apigateway-any-method' : method.toLowerCase();
  return {
    [name]: {
      ...(key === defaultKey ? { isDefaultRoute: true } : {}),
      responses: { default: { description: 'Of the function' } },
      'x-amazon-apigateway-integration': { $ref: `#/components/${integrations}/${target}` },
    },
  };
};

/** OpenAPI requires a declaration of each path parameter. */
const parameters = (path: string) => {
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
  if (names.length === 0) return {};
  return { parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })) };
};
