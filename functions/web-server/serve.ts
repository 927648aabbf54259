import { brotliDecompressSync } from 'node:zlib';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { PageFile, PageFiles } from './files.ts';

type Answer = APIGatewayProxyStructuredResultV2;

export interface ServeOptions {
  files: PageFiles;
  /** Where plans, states and configurations are: the page reads and uploads them there itself. */
  bucketOrigin: string;
}

/**
 * Nothing is loaded from or sent to anywhere but this origin and the platform's own bucket, no text can become script
 * or markup, and nobody can frame the page. As in the API there is no Strict-Transport-Security: on one machine it
 * would turn a developer's every http://localhost away.
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

/** `br;q=1.0, gzip;q=0` → `br`: the best encoding that is taken; undefined when none is. */
export const encodingFor = (accepted: string | undefined): 'br' | 'gzip' | undefined => {
  const taken = (accepted ?? '').split(',').flatMap((part) => {
    const [name = '', ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    return parameters.some((parameter) => /^q=0(\.0+)?$/.test(parameter)) ? [] : [name];
  });
  return (['br', 'gzip'] as const).find((name) => taken.includes(name));
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
  body: encoding ? file[encoding] : brotliDecompressSync(Buffer.from(file.br, 'base64')).toString('base64'),
  isBase64Encoded: true,
});

/**
 * The way from a page back to the base, so that the page works under any path prefix, whether or not whoever put it
 * there cuts it off: `/app/acme/runs` → `../../`.
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
      body: 'There is no such file any more: the platform was updated. Load the page again.',
    };
  }
  return {
    statusCode: 200,
    headers: { ...headers, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
    body: files.html.replaceAll('{{base}}', relativeRoot(event.rawPath)),
  };
};
