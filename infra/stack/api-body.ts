import { Aws, Fn } from 'aws-cdk-lib/core';

/**
 * An HTTP API as one OpenAPI document, in the form that API Gateway itself exports (HTTP APIs: OpenAPI definitions). Routes and
 * integrations as resources of their own would be 200 of a stack's 500, and as many calls to a control plane that takes 10 per second.
 */

export interface BodyRoute {
  /** `ANY /api/v2/{proxy+}`, or `$default`. */
  key: string;
  /** Name of the stage variable that names the function. */
  target: string;
}

export interface BodyProps {
  /** Name of the API. */
  title: string;
  description: string;
  routes: BodyRoute[];
  /** Whom API Gateway invokes functions as. */
  roleArn: string;
}

/** Of API Gateway, and the longest (HTTP APIs: quotas). */
const timeoutInMillis = 30_000;

const integrations = 'x-amazon-apigateway-integrations';

export const apiBody = ({ title, description, routes, roleArn }: BodyProps) => ({
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
});

/**
 * The function is named by a stage variable (HTTP APIs: stage variables reference), which is set once functions exist: they know
 * the API's URL, so the API cannot wait for them.
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

/** OpenAPI wants each parameter of a path declared. */
const parameters = (path: string) => {
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
  if (names.length === 0) return {};
  return { parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })) };
};
