import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Stack } from './template.ts';

interface Rule {
  AllowedMethods: string[];
  AllowedOrigins: string[];
  AllowedHeaders?: string[];
  ExposedHeaders?: string[];
  MaxAge?: number;
}
interface BucketProperties {
  CorsConfiguration?: { CorsRules: Rule[] };
}

const fits = (patterns: string[] = [], value: string): boolean =>
  patterns.some((pattern) => pattern === '*' || pattern.toLowerCase() === value.toLowerCase());

/**
 * Allows web pages of other origins to read and write objects, by the CORS rules of the template's buckets (S3: CORS).
 */
export class Cors {
  readonly #rules: Map<string, Rule[]>;

  constructor(stack: Stack) {
    this.#rules = new Map(
      stack
        .all<BucketProperties>('AWS::S3::Bucket')
        .map(({ ref, properties }) => [ref, properties.CorsConfiguration?.CorsRules ?? []]),
    );
  }

  /**
   * Adds the response headers for browsers.
   * @returns true for a preflight request, which is then complete
   */
  apply(request: IncomingMessage, response: ServerResponse): boolean {
    const { origin } = request.headers;
    const asking = request.method === 'OPTIONS';
    if (!origin) return false;
    const bucket = (request.url ?? '/').split(/[/?]/, 2)[1] ?? '';
    const method = asking ? String(request.headers['access-control-request-method'] ?? '') : (request.method ?? '');
    const headers = asking ? String(request.headers['access-control-request-headers'] ?? '') : '';
    const names = headers
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean);
    const rule = this.#rules
      .get(bucket)
      ?.find(
        ({ AllowedHeaders, AllowedMethods, AllowedOrigins }) =>
          fits(AllowedOrigins, origin) &&
          fits(AllowedMethods, method) &&
          names.every((name) => fits(AllowedHeaders, name)),
      );
    if (rule) {
      response.setHeader('access-control-allow-origin', rule.AllowedOrigins.includes('*') ? '*' : origin);
      response.setHeader('access-control-allow-methods', rule.AllowedMethods.join(', '));
      if (names.length) response.setHeader('access-control-allow-headers', names.join(', '));
      if (rule.ExposedHeaders?.length)
        response.setHeader('access-control-expose-headers', rule.ExposedHeaders.join(', '));
      if (rule.MaxAge) response.setHeader('access-control-max-age', String(rule.MaxAge));
      response.setHeader('vary', 'Origin');
    }
    if (!asking) return false;
    response.writeHead(rule ? 200 : 403).end();
    return true;
  }
}
