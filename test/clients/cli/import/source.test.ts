import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { Source } from '#clients/cli/import/source.ts';

/** A source is untrusted: its responses are used as data only. */

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const serve = async (handle: Handler) => {
  const seen: { path: string; token: string | undefined }[] = [];
  const server = createServer((request, response) => {
    seen.push({ path: request.url ?? '', token: request.headers.authorization });
    handle(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
};

const json =
  (body: unknown): Handler =>
  (_, response) =>
    response.end(JSON.stringify(body));

it('a source gets the token at its own origin only, even after redirects', async () => {
  const other = await serve((_, response) => response.end('state'));
  const source = await serve((_, response) => {
    response.writeHead(302, { location: `${other.url}/state` });
    response.end();
  });
  const reader = new Source(source.url, 'secret');
  expect((await reader.bytes('/download', 100)).toString()).toBe('state');
  expect((await reader.bytes(`${other.url}/direct`, 100)).toString()).toBe('state');
  expect(source.seen.map(({ token }) => token)).toEqual(['Bearer secret']);
  expect(other.seen.map(({ token }) => token)).toEqual([undefined, undefined]);
});

it.each([
  'file:///etc/passwd',
  'http://169.254.169.254/latest/meta-data',
  'http://internal.example/state',
  'https://user:password@example.test/state',
  'data:text/plain,a',
  'http://[',
])('a source is not followed to %s', async (link) => {
  const source = await serve((_, response) => {
    response.writeHead(302, { location: link });
    response.end();
  });
  const reader = new Source(source.url, 'secret');
  await expect(reader.bytes(link, 100)).rejects.toThrow(/not followed/);
  await expect(reader.bytes('/redirected', 100)).rejects.toThrow(/not followed/);
});

it('a source gets a token without TLS on this machine only', () => {
  expect(() => new Source('http://tfe.example.test', 'secret')).toThrow(/https/);
});

it('a source has limited redirects, pages and response sizes', async () => {
  const round = await serve((_, response) => {
    response.writeHead(302, { location: '/again' });
    response.end();
  });
  await expect(new Source(round.url, 's').bytes('/again', 100)).rejects.toThrow(/302/);
  expect(round.seen).toHaveLength(4);
  const stays = await serve((_, response) => response.writeHead(201, { location: '/elsewhere' }).end('created'));
  expect(String(await new Source(stays.url, 's').bytes('/a', 100))).toBe('created');
  const refused = await serve((_, response) => response.writeHead(400, { location: '/elsewhere' }).end());
  await expect(new Source(refused.url, 's').bytes('/a', 100)).rejects.toThrow(/400/);
  expect([stays.seen.length, refused.seen.length], 'not followed').toEqual([1, 1]);
  // The second page names itself as the next one.
  const paged = await serve(json({ data: [{ id: 'a', type: 'b' }], meta: { pagination: { 'next-page': 2 } } }));
  expect(await new Source(paged.url, 's').all('/organizations')).toHaveLength(2);
  expect(paged.seen.map(({ path }) => path.replace(/.*number.*=/, ''))).toEqual(['1', '2']);
  await new Source(paged.url, 's').all('/runs?filter[status]=applied');
  expect(paged.seen.slice(2).map(({ path }) => decodeURI(path))).toEqual([
    '/api/v2/runs?filter[status]=applied&page[size]=100&page[number]=1',
    '/api/v2/runs?filter[status]=applied&page[size]=100&page[number]=2',
  ]);
  expect(decodeURI(paged.seen[0]?.path ?? '')).toBe('/api/v2/organizations?page[size]=100&page[number]=1');
  const large = await serve((_, response) => response.end(Buffer.alloc(5000)));
  await expect(new Source(large.url, 's').bytes('/a', 1000)).rejects.toThrow(/larger than 1000 bytes/);
});

it("a source's responses that are not resources of the API are rejected", async () => {
  const html = await serve((_, response) => response.end('<html>'));
  await expect(new Source(html.url, 's').get('/a')).rejects.toThrow(/JSON/);
  const odd = await serve(json({ data: [null, 1, { id: 1 }, { id: 'a', type: 'b' }] }));
  expect(await new Source(odd.url, 's').all('/a')).toEqual([{ id: 'a', type: 'b', attributes: {} }]);
  const empty = await serve(json({ data: null }));
  await expect(new Source(empty.url, 's').get('/a')).rejects.toThrow(/contains no resource/);
});

it("a source's errors are shown without control characters", async () => {
  const source = await serve((_, response) => {
    response.statusCode = 403;
    response.end(JSON.stringify({ errors: [{ title: 'no\u001b[2J\u0007' }] }));
  });
  const error = await new Source(source.url, 's').get('/a').catch((one: Error) => one);
  expect((error as Error).message).toMatch(/^the source responded with 403 no/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
  expect((error as Error).message).not.toMatch(/[\u0000-\u001f]/);
});
