import { StartError } from './errors.ts';
import type { Resource, Stack } from './template.ts';

export interface Route {
  /** `ANY /api/v2/{proxy+}` or `$default`. */
  key: string;
  functionArn: string;
  timeoutMs: number;
}

export interface DeclaredRoute extends Route {
  /** Role with which API Gateway invokes the function. */
  roleArn: string;
}

export interface Match {
  route: Route;
  parameters: Record<string, string>;
}

interface Compiled {
  route: Route;
  method: string;
  segments: string[];
}

/** The parts of an API's OpenAPI document that the local platform reads (infra/stack/api-body.ts). */
interface Body {
  paths: Record<string, Record<string, Operation>>;
  components: { 'x-amazon-apigateway-integrations': Record<string, Integration> };
}
interface Operation {
  'x-amazon-apigateway-integration'?: { $ref: string };
}
interface Integration {
  type: string;
  uri: string;
  payloadFormatVersion: string;
  timeoutInMillis: number;
  credentials: string;
}
interface StageProperties {
  ApiId: string;
  StageVariables?: Record<string, string>;
}

/** Routes of one HTTP API. */
export const readRoutes = (stack: Stack, { id, ref, properties }: Resource): DeclaredRoute[] => {
  const { Body: body } = properties as { Body?: Body };
  if (!body) throw new StartError(`API ${id}: the local platform supports only APIs with an OpenAPI document`);
  const stage = stack
    .all<StageProperties>('AWS::ApiGatewayV2::Stage')
    .find(({ properties: { ApiId } }) => ApiId === ref);
  const { StageVariables: variables = {} } = stage?.properties ?? {};
  return Object.entries(body.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { 'x-amazon-apigateway-integration': integration }]) =>
      integration ? [toRoute(keyOf(method, path), body, integration.$ref, variables)] : [],
    ),
  );
};

const keyOf = (method: string, path: string): string => {
  if (path === '/$default') return '$default';
  return `${method === 'x-amazon-apigateway-any-method' ? 'ANY' : method.toUpperCase()} ${path}`;
};

const toRoute = (
  key: string,
  { components }: Body,
  reference: string,
  variables: Record<string, string>,
): DeclaredRoute => {
  const integration = components['x-amazon-apigateway-integrations'][reference.split('/').at(-1) ?? ''];
  if (integration?.type !== 'aws_proxy' || integration.payloadFormatVersion !== '2.0')
    throw new StartError(`route ${key}: the local platform supports only Lambda proxies with payload format 2.0`);
  const uri = integration.uri.replaceAll(/\$\{stageVariables\.(\w+)\}/g, (_, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new StartError(`route ${key}: its stage has no variable ${name}`);
    return value;
  });
  const functionArn = invokedBy(uri);
  if (!functionArn) throw new StartError(`route ${key}: ${uri} is not the URI of a Lambda function`);
  return { key, functionArn, timeoutMs: integration.timeoutInMillis, roleArn: integration.credentials };
};

/** ARN of the function in the URI of an integration. */
export const invokedBy = (uri: string): string | undefined => /functions\/(arn:[^/]+)\/invocations$/.exec(uri)?.[1];

/**
 * API Gateway's choice of a route (HTTP APIs: routing): a full match before a greedy one, a longer greedy prefix
 * before a shorter, a method before ANY, `$default` last.
 */
export class Router {
  readonly #routes: Compiled[];
  readonly #fallback: Route | undefined;

  constructor(routes: Route[]) {
    this.#fallback = routes.find(({ key }) => key === '$default');
    this.#routes = routes
      .filter(({ key }) => key !== '$default')
      .map((route) => {
        const [method = 'ANY', path = '/'] = route.key.split(' ');
        return { route, method, segments: path.slice(1).split('/') };
      })
      .sort((a, b) => rank(b) - rank(a));
  }

  /** @param path decoded, as API Gateway matches it */
  find(method: string, path: string): Match | undefined {
    const segments = path.slice(1).split('/');
    for (const candidate of this.#routes) {
      if (candidate.method !== 'ANY' && candidate.method !== method) continue;
      const parameters = match(candidate.segments, segments);
      if (parameters) return { route: candidate.route, parameters };
    }
    return this.#fallback && { route: this.#fallback, parameters: {} };
  }
}

const isGreedy = (segment: string): boolean => segment.endsWith('+}');

const rank = ({ method, segments }: Compiled): number => {
  const greedy = segments.some(isGreedy) ? 0 : 10_000;
  const literals = segments.filter((segment) => !segment.startsWith('{')).length;
  return greedy + 100 * literals + 2 * segments.length + (method === 'ANY' ? 0 : 1);
};

const match = (pattern: string[], segments: string[]): Record<string, string> | undefined => {
  const greedy = isGreedy(pattern.at(-1) ?? '');
  if (greedy ? segments.length < pattern.length : segments.length !== pattern.length) return undefined;
  // Most candidates differ in a literal segment: the comparison allocates nothing for them.
  if (pattern.some((expected, i) => !expected.startsWith('{') && expected !== segments[i])) return undefined;
  const parameters: Record<string, string> = {};
  for (const [i, expected] of pattern.entries()) {
    if (!expected.startsWith('{')) continue;
    const actual = isGreedy(expected) ? segments.slice(i).join('/') : segments[i];
    if (!actual) return undefined;
    parameters[expected.slice(1, isGreedy(expected) ? -2 : -1)] = actual;
  }
  return parameters;
};
