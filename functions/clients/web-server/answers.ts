import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** What the answers with the page and with the documentation have in common. */

export type Answer = APIGatewayProxyStructuredResultV2;

/**
 * Pages load from this origin only; text cannot become script or markup; no site can frame them. Like the API they send
 * no Strict-Transport-Security, which on one machine would block every other http://localhost of the developer.
 * @param connectTo further origins that scripts may send requests to
 */
export const securityHeaders = (...connectTo: string[]): Record<string, string> => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    ["connect-src 'self'", ...connectTo].join(' '),
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

/** Of files whose names change with their content. */
export const forever = 'public, max-age=31536000, immutable';

/** API Gateway's answer to a path without a route: no other function serves this one. */
export const notFound: Answer = {
  statusCode: 404,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ message: 'Not Found' }),
};
