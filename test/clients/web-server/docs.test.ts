import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { expect, it } from 'vitest';
import { toDocumentation } from '#clients/web-server/serve.ts';
import { openDocs, serveDocs } from '#clients/web-server/serve-docs.ts';

const site = {
  'index.html': '<h1>Documentation</h1>',
  'tutorials/a.html': 'a',
  'assets/docs-1.js': 'run()',
  'main.tf': '',
  'pictures/form.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'pictures/form.webp': Buffer.from('RIFF bits').toString('base64'),
};
const files = openDocs({ br: brotliCompressSync(JSON.stringify(site)).toString('base64') });
const send = (method: string, rawPath: string, headers: Record<string, string> = {}) =>
  serveDocs(
    { rawPath, headers, requestContext: { http: { method } } } as unknown as APIGatewayProxyEventV2,
    () => files,
  );
const get = (rawPath: string, headers?: Record<string, string>) => send('GET', rawPath, headers);
const bytes = ({ body = '' }: { body?: string }) => Buffer.from(body, 'base64');

it('serves each file of the documentation by its type, compressed as the browser supports', () => {
  const page = get('/docs/index.html', { 'accept-encoding': 'gzip, br' });
  expect(page).toMatchObject({
    statusCode: 200,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'br', 'cache-control': 'no-cache' },
  });
  expect(brotliDecompressSync(bytes(page)).toString()).toBe(site['index.html']);
  expect(gunzipSync(bytes(get('/docs/index.html', { 'accept-encoding': 'gzip' }))).toString()).toBe(site['index.html']);
  expect(bytes(get('/docs/tutorials/a.html')).toString()).toBe('a');
  const script = get('/docs/assets/docs-1.js').headers;
  expect(script).toMatchObject({ 'content-type': 'text/javascript; charset=utf-8' });
  expect(script?.['cache-control']).toContain('immutable');
  expect(get('/docs/main.tf').headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8' });
});

it('serves pictures by their type, those of bits as they are', () => {
  const photo = get('/docs/pictures/form.webp', { 'accept-encoding': 'gzip, br' });
  expect(photo.headers).toMatchObject({ 'content-type': 'image/webp', 'x-content-type-options': 'nosniff' });
  expect(photo.headers).not.toHaveProperty('content-encoding');
  expect(bytes(photo).toString()).toBe('RIFF bits');
  const drawing = get('/docs/pictures/form.svg', { 'accept-encoding': 'br' });
  expect(drawing.headers).toMatchObject({ 'content-type': 'image/svg+xml', 'content-encoding': 'br' });
  expect(brotliDecompressSync(bytes(drawing)).toString()).toBe(site['pictures/form.svg']);
});

it('runs no script of a picture that is opened by its address', () => {
  const policy = String(get('/docs/pictures/form.svg').headers?.['content-security-policy']);
  expect(policy).toMatch(/^default-src 'none'; /);
  expect(policy).toMatch(/; sandbox$/);
  expect(policy).not.toContain('script');
});

it('serves nothing by other names and methods', () => {
  for (const name of ['none.html', 'tutorials', 'tutorials/', '../app', '..%2f..%2fetc', 'toString', '__proto__', ''])
    expect(get(`/docs/x/${name}`).statusCode, name).toBe(404);
  expect(get('/docs/__proto__').statusCode).toBe(404);
  expect(get('/docsindex.html').statusCode).toBe(404);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    expect(send(method, '/docs/index.html').statusCode, method).toBe(404);
});

it('has the policy of the page, and connects to this origin only', () => {
  for (const path of ['/docs/index.html', '/docs/none.html']) {
    const policy = String(get(path).headers?.['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).toContain("trusted-types 'none'");
    expect(policy).not.toMatch(/unsafe|\*|data:/);
  }
});

it('leads from its folder to the first page, below any path prefix', () => {
  for (const path of ['/docs', '/docs/', '/tools/stepform/docs', '/tools/stepform/docs/']) {
    const { statusCode, headers } = toDocumentation(path);
    expect(statusCode).toBe(308);
    const { pathname } = new URL(String(headers?.location), `https://host${path}`);
    expect(pathname).toBe(`${path.replace(/\/$/, '')}/index.html`);
  }
  expect(get('/docs/').headers).toMatchObject({ location: 'index.html' });
});
