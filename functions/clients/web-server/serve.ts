import { brotliDecompressSync, gzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { PageFile, PageFiles } from './files.ts';

type Answer = APIGatewayProxyStructuredResultV2;

export interface ServeOptions {
  files: PageFiles;
  /** Origin of plans, states and configurations, which the page downloads and uploads directly. */
  bucketOrigin: string;
}

/**
 * The page loads from and sends to this origin and the platform's own bucket only; text cannot become script or markup;
 * no site can frame it. Like the API it sends no Strict-Transport-Security, which on one machine would block every
 * other http://localhost of the developer.
 */
const headersOf = (bucketOrigin: string): Record<string, string> => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ${bucketOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});

/** `br;q=1.0, gzip;q=0` → `br`: the best encoding that the client accepts, if any. */
export const encodingFor = (accepted: string | undefined): 'br' | 'gzip' | undefined => {
  const names = (accepted ?? '').split(',').flatMap((part) => {
    const [name = '', ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    return parameters.some((parameter) => /^q=0(\.0+)?$/.test(parameter)) ? [] : [name];
  });
  return (['br', 'gzip'] as const).find((name) => names.includes(name));
};

/** For clients without Brotli, such as browsers behind a proxy that does not know it. */
const recompressed = ({ br }: PageFile, encoding: 'gzip' | undefined): Buffer => {
  const content = brotliDecompressSync(Buffer.from(br, 'base64'));
  return encoding ? gzipSync(content) : content;
};

const asset = (file: PageFile, encoding: 'br' | 'gzip' | undefined, headers: Record<string, string>): Answer => ({
  statusCode: 200,
  headers: {
    ...headers,
    'content-type': file.contentType,
    // The name changes with the content.
    'cache-control': 'public, max-age=31536000, immutable',
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

const assetPath = /^\/app\/assets\/([^/]+)$/;

export const serve = (event: APIGatewayProxyEventV2, { files, bucketOrigin }: ServeOptions): Answer => {
  const headers = headersOf(bucketOrigin);
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
  return {
    statusCode: 200,
    headers: { ...headers, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
    body: files.html.replaceAll('{{base}}', relativeRoot(event.rawPath)),
  };
};
