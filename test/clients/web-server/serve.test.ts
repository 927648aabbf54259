import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import type { PageFile } from '#clients/web-server/files.ts';
import { relativeRoot, serve } from '#clients/web-server/serve.ts';
import { buildPage } from '#infra/stack/page.ts';
import { encodingFor } from '#platform/net/encodings.ts';

const { page: files } = await buildPage(process.cwd());

const bucketOrigin = 'https://bucket.s3.eu-central-1.amazonaws.com';
const send = (method: string, rawPath: string, headers: Record<string, string> = {}) =>
  serve({ rawPath, headers, requestContext: { http: { method } } } as unknown as APIGatewayProxyEventV2, {
    files,
    bucketOrigin,
  });
const get = (rawPath: string, headers?: Record<string, string>) => send('GET', rawPath, headers);
const bytes = ({ body = '' }: { body?: string }) => Buffer.from(body, 'base64');

const nameOf = (ending: string) =>
  Object.keys(files.assets).find((name) => name.startsWith('page-') && name.endsWith(ending)) ?? '';

/** Files that the document loads. */
const named = (html: string) =>
  [...html.matchAll(/(?<!rel="license" .*)assets\/([^"]+)"/g)].map(([, name = '']) => name);

const contentOf = ({ br }: PageFile) => brotliDecompressSync(Buffer.from(br, 'base64'));

/** The bundler's form of imports. */
const atOnce = /(?:\bfrom|\bimport)"\.\/([^"]+\.js)"/g;
const lazily = /\bimport\("\.\/([^"]+\.js)"\)/g;
const importedIn = (file: PageFile | undefined, how: RegExp): string[] =>
  file?.contentType.startsWith('text/javascript')
    ? [...contentOf(file).toString().matchAll(how)].map(([, name = '']) => name)
    : [];

/** Scripts with everything that they import statically. */
const loaded = (names: string[], all = new Set<string>()): Set<string> => {
  for (const name of names) if (!all.has(name)) loaded(importedIn(files.assets[name], atOnce), all.add(name));
  return all;
};
const weightOf = (names: string[]): number =>
  [...loaded(names)].reduce(
    (sum, name) => sum + gzipSync(contentOf(files.assets[name] as PageFile), { level: 9 }).length,
    0,
  );

describe('the page', () => {
  it('weighs at most 60 KB of script and style before the first view, and at most 90 KB with any', () => {
    expect(weightOf(named(files.html))).toBeLessThan(60_000);
    const views = [...new Set(Object.values(files.assets).flatMap((file) => importedIn(file, lazily)))];
    expect(views.length).toBeGreaterThan(3);
    for (const view of views) expect(weightOf([...named(files.html), view]), view).toBeLessThan(90_000);
  });

  it('links to the licences of the packages in it', () => {
    const [, name = ''] = /rel="license" href="[^"]*assets\/([^"]+)"/.exec(files.html) ?? [];
    const text = bytes(get(`/app/assets/${name}`, { 'accept-encoding': 'br' }));
    expect(brotliDecompressSync(text).toString()).toMatch(/^preact \S+ \(MIT\)$.*Jason Miller/ms);
  });

  it('preloads every script, so that none waits for another', () => {
    const inDocument = named(files.html);
    expect(loaded(inDocument)).toEqual(new Set(inDocument));
  });

  it('loads nothing from other hosts', () => {
    const loaded = Object.values(files.assets).filter(({ contentType }) => !contentType.startsWith('text/plain'));
    const texts = [files.html, ...loaded.map((file) => contentOf(file).toString())];
    const hosts = texts.flatMap((text) => text.match(/\bhttps?:\/\/[^\s"'`)]+/g) ?? []);
    // Names of XML vocabularies are not addresses, URLs of forges are sent to the API by a form, and a public module
    // links to its page.
    const named =
      /^(http:\/\/www\.w3\.org\/|https:\/\/((api\.)?github|gitlab)\.com(\/api\/v4)?$|https:\/\/(api\.)?bitbucket\.org(\/2\.0)?$|https:\/\/(dev\.azure\.com|ado\.example\.com)\/<|https:\/\/registry\.terraform\.io\/modules\/)/;
    expect(hosts.filter((url) => !named.test(url))).toEqual([]);
  });

  it('is the same document at every path, with relative URLs of its assets', () => {
    for (const path of ['/', '/app', '/app/acme/workspaces/network/runs/run-1']) {
      const { statusCode, headers, body = '' } = get(path);
      expect(statusCode).toBe(200);
      expect(headers?.['content-type']).toBe('text/html; charset=utf-8');
      expect(headers?.['cache-control']).toBe('no-cache');
      const script = /<script type="module" src="([^"]+)"/.exec(body)?.[1] ?? '';
      for (const prefix of ['', '/tools/stepform']) {
        const url = new URL(script, `https://host${prefix}${path}`);
        expect(url.pathname).toBe(`${prefix}/app/assets/${nameOf('.js')}`);
      }
    }
  });

  it('is sent to browsers with 404 at unknown addresses, and API Gateway’s answer to programs', () => {
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const path of ['/nothing', '/apples', '/app.html', '/acme/workspaces']) {
      expect(get(path, browser)).toMatchObject({ statusCode: 404, headers: { 'cache-control': 'no-cache' } });
      expect(get(path, browser).body).toContain('<script');
      expect(get(path, { accept: '*/*' })).toMatchObject({ statusCode: 404, body: '{"message":"Not Found"}' });
    }
    expect(send('POST', '/app', browser)).toMatchObject({ statusCode: 404, body: '{"message":"Not Found"}' });
  });

  it('allows only itself and the bucket as sources, and no framing', () => {
    for (const path of ['/', `/app/assets/${nameOf('.js')}`, '/app/assets/none.js']) {
      const policy = String(get(path).headers?.['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain(`connect-src 'self' ${bucketOrigin};`);
      expect(policy).not.toMatch(/unsafe|\*|data:/);
      expect(get(path).headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
      });
    }
  });

  it('has no inline script or style, which the policy would block', () => {
    const { body = '' } = get('/');
    expect(body).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/);
  });
});

describe('assets', () => {
  it('are compressed as the browser supports, and cached forever', () => {
    const path = `/app/assets/${nameOf('.js')}`;
    const br = get(path, { 'accept-encoding': 'gzip, deflate, br' });
    const gz = get(path, { 'accept-encoding': 'gzip' });
    const none = get(path, {});
    expect(br.headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-encoding' });
    expect(br.headers?.['cache-control']).toBe('public, max-age=31536000, immutable');
    const script = brotliDecompressSync(bytes(br)).toString();
    expect(gunzipSync(bytes(gz)).toString()).toBe(script);
    expect(none.headers).not.toHaveProperty('content-encoding');
    expect(bytes(none).toString()).toBe(script);
  });

  it('that are missing are not cached as missing', () => {
    for (const name of ['page-old.js', 'toString', '__proto__', '..%2f..%2fetc']) {
      const { statusCode, headers } = get(`/app/assets/${name}`);
      expect([statusCode, headers?.['cache-control']], name).toEqual([404, 'no-store']);
    }
  });

  it('are chosen by preference of the encoding', () => {
    expect(encodingFor('br;q=1.0, gzip;q=0.8')).toBe('br');
    expect(encodingFor('br;q=0, gzip')).toBe('gzip');
    expect(encodingFor('br;q=0.0,gzip;q=0')).toBeUndefined();
    expect(encodingFor(undefined)).toBeUndefined();
  });
});

describe('the relative base', () => {
  it('has the depth of the path', () => {
    expect(relativeRoot('/')).toBe('./');
    expect(relativeRoot('/app')).toBe('./');
    expect(relativeRoot('/app/acme')).toBe('../');
    expect(relativeRoot('/app/acme/')).toBe('../../');
  });
});

it('the description of the API is served compressed, and checked again by clients', () => {
  const answer = get('/api/v2/openapi.json', { 'accept-encoding': 'br' });
  expect(answer).toMatchObject({
    statusCode: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-cache', 'content-encoding': 'br' },
  });
  expect(JSON.parse(brotliDecompressSync(bytes(answer)).toString()).openapi).toBe('3.1.0');
  expect(bytes(answer).length).toBeLessThan(60_000);
});
