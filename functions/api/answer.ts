import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { nameOf } from './naming.ts';

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
 * Headers of every API response; responses of the page have more. Without Strict-Transport-Security: on AWS the API
 * accepts only TLS, and on one machine the header would break a developer's other http://localhost sites.
 */
export const securityHeaders: Record<string, string> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Clients identify the service and its features by these headers. OpenTofu and Terraform 1.4 to 1.8.1, which are older
 * than the name HCP Terraform, treat any name but "Terraform Cloud" as Terraform Enterprise, and show plans only with
 * version 202302 or later. Newer clients know the name; for them, tags have values from version 202502 on.
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

/** Text that clients print unchanged. */
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
  json(200, { data, included } satisfies Document);
export const created = (data: Resource): Answer => json(201, { data } satisfies Document);
/** Response to run actions. */
export const accepted = (): Answer => without(202);
export const noContent = (): Answer => without(204);
/** Empty 200 response, where the API requires that status. */
export const done = (): Answer => without(200);
/** 302 for configurations and states, 307 for plans, 303 after a form. */
export const redirect = (statusCode: 302 | 303 | 307, location: string): Answer => without(statusCode, { location });

/** Relationship to one resource; to an organization by its key. */
export const one = (type: string, id: string | null | undefined): Relationship => ({
  data: id ? { type, id: type === 'organizations' ? nameOf(id) : id } : null,
});
/** Relationship to many resources. */
export const many = (type: string, ids: string[]): Relationship => ({ data: ids.map((id) => ({ type, id })) });
