import { StartError } from './errors.ts';
import type { Stack } from './template.ts';

export interface Route {
  /** `ANY /api/v2/{proxy+}` or `$default`. */
  key: string;
  functionArn: string;
  timeoutMs: number;
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

interface RouteProperties {
  ApiId?: string;
  RouteKey: string;
  Target: string;
}
interface IntegrationProperties {
  IntegrationType: string;
  IntegrationUri: string;
  PayloadFormatVersion: string;
  TimeoutInMillis?: number;
}

/** API Gateway's own limit for an integration of an HTTP API. */
const maxTimeoutMs = 30_000;

/** Those of one HTTP API. */
export const readRoutes = (stack: Stack, apiId: string): Route[] => {
  const integrations = new Map(
    stack
      .all<IntegrationProperties>('AWS::ApiGatewayV2::Integration')
      .map((integration) => [integration.ref, integration]),
  );
  const routes = stack.all<RouteProperties>('AWS::ApiGatewayV2::Route');
  const own = routes.filter(({ properties }) => properties.ApiId === undefined || properties.ApiId === apiId);
  return own.map(({ id, properties }) => {
    const integration = integrations.get(properties.Target.replace('integrations/', ''));
    if (
      integration?.properties.IntegrationType !== 'AWS_PROXY' ||
      integration.properties.PayloadFormatVersion !== '2.0'
    )
      throw new StartError(`route ${id}: the local platform knows Lambda proxies with payload format 2.0 only`);
    return {
      key: properties.RouteKey,
      functionArn: integration.properties.IntegrationUri,
      timeoutMs: integration.properties.TimeoutInMillis ?? maxTimeoutMs,
    };
  });
};

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
  // Most candidates differ in a literal segment: nothing is made for those.
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
