import { brotliDecompressSync, gzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { encodingFor } from '#platform/net/encodings.ts';
import { type Answer, forever, notFound, securityHeaders } from './answers.ts';
import type { PageFile, PageFiles } from './files.ts';

export interface ServeOptions {
  files: PageFiles;
  /** Origin of plans, states and configurations, which the page downloads and uploads directly. */
  bucketOrigin: string;
}

/** For clients without Brotli, such as browsers behind a proxy that does not know it. */
const recompressed = ({ br }: PageFile, encoding: 'gzip' | undefined): Buffer => {
  const content = brotliDecompressSync(Buffer.from(br, 'base64'));
  return encoding ? gzipSync(content) : content;
};

const asset = (
  file: PageFile,
  encoding: 'br' | 'gzip' | undefined,
  headers: Record<string, string>,
  cacheControl = forever,
): Answer => ({
  statusCode: 200,
  headers: {
    ...headers,
    'content-type': file.contentType,
    'cache-control': cacheControl,
    vary: 'accept-encoding',
    ...(encoding ? { 'content-encoding': encoding } : {}),
  },
  body: encoding === 'br' ? file.br : recompressed(file, encoding).toString('base64'),
  isBase64Encoded: true,
});

/**
 * The relative path from a page to the base, so that the page works behind a proxy with a path prefix, whether or not
 * the proxy strips it: `/app/acme/runs` → `../../`.
 */
export const relativeRoot = (path: string): string => '../'.repeat(path.split('/').length - 2) || './';

const descriptionPath = '/api/v2/openapi.json';
const assetPath = /^\/app\/assets\/([^/]+)$/;

/**
 * The documentation's address without the name of a page, which no key of API Gateway for its subtree matches. Relative,
 * like all addresses.
 */
export const toDocumentation = (path: string): Answer => ({
  statusCode: 308,
  headers: { location: path.endsWith('/') ? 'index.html' : 'docs/index.html', 'cache-control': 'no-cache' },
});

export const serve = (event: APIGatewayProxyEventV2, { files, bucketOrigin }: ServeOptions): Answer => {
  if (!['GET', 'HEAD'].includes(event.requestContext.http.method)) return notFound;
  if (/^\/docs\/?$/.test(event.rawPath)) return toDocumentation(event.rawPath);
  const headers = securityHeaders(bucketOrigin);
  if (event.rawPath === descriptionPath)
    return asset(files.openapi, encodingFor(event.headers['accept-encoding']), headers, 'no-cache');
  const name = assetPath.exec(event.rawPath)?.[1];
  if (name !== undefined) {
    const file = Object.hasOwn(files.assets, name) ? files.assets[name] : undefined;
    if (file) return asset(file, encodingFor(event.headers['accept-encoding']), headers);
    return {
      statusCode: 404,
      headers: { ...headers, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
      body: 'File not found: the platform was updated. Reload the page.',
    };
  }
  const isPage = /^\/(?:app(?:\/.*)?)?$/.test(event.rawPath);
  // Programs get no document.
  if (!isPage && !event.headers.accept?.includes('text/html')) return notFound;
  return {
    statusCode: isPage ? 200 : 404,
    headers: { ...headers, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
    body: files.html.replaceAll('{{base}}', relativeRoot(event.rawPath)),
  };
};
