import { brotliCompressSync, brotliDecompressSync, constants, gzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { encodingFor } from '#platform/net/encodings.ts';
import { type Answer, forever, notFound, securityHeaders } from './answers.ts';
import { type DocsFiles, isBase64 } from './files.ts';
import { toDocumentation } from './serve.ts';

/** Serves the documentation of this version: its files, by their exact names. */

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  png: 'image/png',
  svg: 'image/svg+xml',
  webp: 'image/webp',
};

/** An SVG that is opened by its address is a document: it runs no script and loads nothing. */
const policyOf = (path: string): Record<string, string> =>
  path.endsWith('.svg')
    ? { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox" }
    : {};

const typeOf = (path: string): string => types[path.slice(path.lastIndexOf('.') + 1)] ?? 'text/plain; charset=utf-8';

/** Higher levels take longer than they save: a page is some 20 KB. */
const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const encoded = (text: string, encoding: 'br' | 'gzip' | undefined): Buffer => {
  if (encoding === 'br') return brotliCompressSync(text, fast);
  return encoding === 'gzip' ? gzipSync(text) : Buffer.from(text);
};

/** @returns content of each file by its path */
export const openDocs = ({ br }: DocsFiles): ReadonlyMap<string, string> =>
  new Map(Object.entries(JSON.parse(brotliDecompressSync(Buffer.from(br, 'base64')).toString())));

const root = '/docs/';

export const serveDocs = (event: APIGatewayProxyEventV2, files: () => ReadonlyMap<string, string>): Answer => {
  const { rawPath } = event;
  if (!['GET', 'HEAD'].includes(event.requestContext.http.method)) return notFound;
  if (rawPath === root) return toDocumentation(rawPath);
  const path = rawPath.startsWith(root) ? rawPath.slice(root.length) : '';
  const text = files().get(path);
  if (text === undefined)
    return {
      statusCode: 404,
      headers: { ...securityHeaders(), 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
      body: 'The documentation of this version has no such page. It begins at /docs.',
    };
  const encoding = isBase64(path) ? undefined : encodingFor(event.headers['accept-encoding']);
  return {
    statusCode: 200,
    headers: {
      ...securityHeaders(),
      ...policyOf(path),
      'content-type': typeOf(path),
      'cache-control': path.startsWith('assets/') ? forever : 'no-cache',
      vary: 'accept-encoding',
      ...(encoding ? { 'content-encoding': encoding } : {}),
    },
    body: isBase64(path) ? text : encoded(text, encoding).toString('base64'),
    isBase64Encoded: true,
  };
};
