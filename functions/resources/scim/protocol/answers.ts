import { createHash } from 'node:crypto';
import { type Answer, json, noContent } from '#api/answer.ts';
import type { ApiRequest } from '#api/request.ts';
import { outdated, type ScimError } from './errors.ts';
import { urns } from './urns.ts';

/** Responses of SCIM (RFC 7644 §3.1, §3.4.2, §3.12, §3.14). */

const mediaType = 'application/scim+json';

export const scimJson = (status: number, body: unknown): Answer => json(status, body, mediaType);

/** `status` is a string. */
export const errorAnswer = ({ status, message, scimType }: ScimError): Answer =>
  scimJson(status, {
    schemas: [urns.error],
    status: String(status),
    ...(scimType ? { scimType } : {}),
    detail: message,
  });

/** A resource without its `meta`. */
export interface Content {
  schemas: readonly string[];
  id: string;
  [attribute: string]: unknown;
}

interface Meta {
  resourceType: string;
  created: string;
  lastModified: string;
  location: string;
  version: string;
}

export type Document = Content & { meta: Meta };

/** Weak, because the same version can be sent with fewer attributes. */
export const versionOf = (content: Content): string =>
  `W/"${createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22)}"`;

const names = (header: string | undefined): string[] => (header ?? '').split(',').map((tag) => tag.trim());

const opaque = (tag: string): string => tag.replace(/^W\//, '');

const matches = (header: string, version: string): boolean =>
  names(header).some((tag) => tag === '*' || opaque(tag) === opaque(version));

/** @throws {ScimError} 412 when If-Match names another version */
export const checkVersion = (request: ApiRequest, { meta }: Document): void => {
  const header = request.header('if-match');
  if (header !== undefined && !matches(header, meta.version)) throw outdated(meta.resourceType.toLowerCase());
};

/** True when the client has this version (If-None-Match). */
export const isKnown = (request: ApiRequest, { meta }: Document): boolean => {
  const header = request.header('if-none-match');
  return header !== undefined && matches(header, meta.version);
};

export const withVersion = (answer: Answer, { meta }: Document): Answer => ({
  ...answer,
  headers: { ...answer.headers, etag: meta.version, ...(answer.statusCode === 201 ? { location: meta.location } : {}) },
});

export const notModified = (document: Document): Answer => withVersion({ ...noContent(), statusCode: 304 }, document);
