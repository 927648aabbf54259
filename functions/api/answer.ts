import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

export interface Identifier {
  type: string;
  id: string;
}

export interface Relationship {
  data?: Identifier | Identifier[] | null;
  links?: { related: string };
}

/** A JSON:API resource object. */
export interface Resource extends Identifier {
  attributes: Record<string, unknown>;
  relationships?: Record<string, Relationship>;
  links?: Record<string, string | null>;
}

export interface Document {
  data: Resource | Resource[] | Identifier[];
  included?: Resource[];
  links?: Record<string, string | null>;
  meta?: Record<string, unknown>;
}

export type Answer = APIGatewayProxyStructuredResultV2;

const mediaType = 'application/vnd.api+json';

/**
 * On every answer of every function but the page's, which has more. There is no Strict-Transport-Security: the API
 * speaks nothing but TLS on AWS, and on one machine it would turn a developer's every http://localhost away.
 */
export const securityHeaders: Record<string, string> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Clients take from them what this is, and what it can do. Those from before HCP Terraform had its name (OpenTofu and
 * Terraform 1.4 to 1.8.1) take any other name than "Terraform Cloud" for Terraform Enterprise, and show plans only with a
 * version of 202302 or later; the newer ones go by the name, and tell by the version whether tags have values (202502).
 */
export const standardHeaders: Record<string, string> = {
  'tfp-api-version': '2.6',
  'tfp-appname': 'HCP Terraform',
  'x-tfe-version': 'v202502-1',
  ...securityHeaders,
};

export const json = (statusCode: number, body: unknown, contentType = mediaType): Answer => ({
  statusCode,
  headers: { ...standardHeaders, 'content-type': contentType },
  body: JSON.stringify(body),
});

/** What clients print as it is. */
export const plainText = (text: string): Answer => ({
  statusCode: 200,
  headers: { ...standardHeaders, 'content-type': 'text/plain; charset=utf-8' },
  body: text,
});

const without = (statusCode: number, headers: Record<string, string> = {}): Answer => ({
  statusCode,
  headers: { ...standardHeaders, ...headers },
});

export const ok = (data: Resource | Resource[], included?: Resource[]): Answer =>
  json(200, { data, ...(included ? { included } : {}) } satisfies Document);
export const created = (data: Resource): Answer => json(201, { data } satisfies Document);
/** Run actions. */
export const accepted = (): Answer => without(202);
export const noContent = (): Answer => without(204);
/** Where there is nothing to say, and the API says 200 all the same. */
export const done = (): Answer => without(200);
/** 302 for configurations and states, 307 for plans, 303 after a form. */
export const redirect = (statusCode: 302 | 303 | 307, location: string): Answer => without(statusCode, { location });

/** To one. */
export const one = (type: string, id: string | null | undefined): Relationship => ({ data: id ? { type, id } : null });
/** To many. */
export const many = (type: string, ids: string[]): Relationship => ({ data: ids.map((id) => ({ type, id })) });
