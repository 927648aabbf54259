import type { Answer } from '#api/answer.ts';

/** The version of Coder's API; clients compare its major and minor version with their own. */
export const coderVersion = 'v2.29.1';
export const buildVersion = `${coderVersion}+stepform`;

/** Browsers must not guess the content type. */
const standard = {
  'x-coder-build-version': buildVersion,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

export const json = (statusCode: number, body: unknown): Answer => ({
  statusCode,
  headers: { ...standard, 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body),
});

export const ok = (body: unknown): Answer => json(200, body);
export const created = (body: unknown): Answer => json(201, body);
export const noContent = (): Answer => ({ statusCode: 204, headers: standard });
export const notModified = (): Answer => ({ statusCode: 304, headers: standard });

export const bytes = (content: Buffer, contentType: string): Answer => ({
  statusCode: 200,
  headers: { ...standard, 'content-type': contentType },
  body: content.toString('base64'),
  isBase64Encoded: true,
});

export const plainText = (text: string, contentType: string): Answer => ({
  statusCode: 200,
  headers: { ...standard, 'content-type': contentType },
  body: text,
});

export const html = (text: string): Answer => ({
  statusCode: 200,
  headers: { ...standard, 'content-type': 'text/html; charset=utf-8' },
  body: text,
});

export const redirect = (location: string): Answer => ({ statusCode: 307, headers: { ...standard, location } });
