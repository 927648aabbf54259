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

/** Lets web pages of other origins at objects, as the buckets' rules in the template say (S3: CORS). */
export class Cors {
  readonly #rules: Map<string, Rule[]>;

  constructor(stack: Stack) {
    this.#rules = new Map(
      stack
        .all<BucketProperties>('AWS::S3::Bucket')
        .map(({ ref, properties }) => [ref, properties.CorsConfiguration?.CorsRules ?? []]),
    );
  }

  /** Adds what the browser asks for. @returns true when that was all: the question before a request has its answer */
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
