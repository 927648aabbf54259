import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { serve } from '#test/support/serve.ts';

/** The audit trail at an endpoint of the organization. */

interface Received {
  headers: IncomingHttpHeaders;
  /** Ids of the events. */
  ids: string[];
}

const api = await startApi();
const { handler: notify } = await import('#resources/notifications/handler.ts');
const { handleDue } = await import('#lifecycle/repair/due-items.ts');
const { keepEvent } = await import('#resources/audit/records.ts');

let received: Received[] = [];
let status = 200;
const endpoint = await serve(async (request, response) => {
  const lines = (await text(request)).split('\n').filter(Boolean);
  received.push({ headers: request.headers, ids: lines.map((line) => JSON.parse(line).id) });
  response.writeHead(status, status === 307 ? { location: 'http://localhost:1/' } : {}).end();
});
afterAll(() => endpoint.close());

let organization: string;
let path: string;
let clock: number;
beforeEach(async () => {
  process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
  vi.useFakeTimers({ toFake: ['Date'] });
  clock = Date.now();
  received = [];
  status = 200;
  organization = uniqueName('org');
  path = `organizations/${organization}/audit-export`;
  await api.post('organizations', { name: organization, email: 'a@b.test' });
  later(1);
});
afterEach(() => {
  vi.useRealTimers();
  delete process.env.OUTBOUND_ALLOWED_CIDRS;
});

/** In seconds. */
const later = (seconds: number): void => {
  clock += seconds * 1000;
  vi.setSystemTime(clock);
};

const put = (attributes: object, token?: string) =>
  api.call('PUT', path, { token, body: { data: { type: 'audit-exports', attributes } } });
const shown = async () => (await api.get(path)).body.data.attributes;
const deliver = () => notify({ kind: 'auditExport', organization });

let made = 0;
/** Events a second apart, from now on. */
const happen = async (count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    later(1);
    const id = `${String(++made).padStart(8, '0')}-0000-4000-8000-000000000000`;
    const resource = { type: 'workspace', id: 'ws-1' };
    await keepEvent({
      ...{ id, at: new Date(clock).toISOString(), organization, actor: 'user-1', by: 'user' },
      ...{ resource, action: 'update', allowed: true },
    });
    ids.push(id);
  }
  return ids;
};

describe('the export of the audit trail', () => {
  it('delivers each event once, in order, in numbered batches with the given headers', async () => {
    expect((await put({ url: `${endpoint.url}/in`, headers: { Authorization: 'Splunk abc' } })).status).toBe(200);
    const first = await happen(3);
    await deliver();
    // Younger events may still come.
    expect(received).toEqual([]);
    later(200);
    await deliver();
    // The request that set the export up is an event too.
    expect(received.map(({ ids, headers }) => [ids.slice(-3), headers['x-stepform-sequence']])).toEqual([[first, '1']]);
    expect(received[0]?.headers).toMatchObject({
      authorization: 'Splunk abc',
      'content-type': 'application/x-ndjson',
      'x-stepform-organization': organization,
    });
    const second = await happen(2);
    later(200);
    await deliver();
    await deliver();
    expect(received.slice(1).map(({ ids, headers }) => [ids, headers['x-stepform-sequence']])).toEqual([[second, '2']]);
    expect(await shown()).toMatchObject({
      url: `${endpoint.url}/in`,
      'header-names': ['Authorization'],
      sequence: 2,
      failure: null,
    });
  });

  it.each([500, 404, 307])('repeats the same batch after an answer of %d, and leaves no gap', async (answer) => {
    await put({ url: endpoint.url });
    await happen(2);
    later(200);
    status = answer;
    await deliver();
    const { failure, sequence, 'failing-since': since } = await shown();
    expect([failure, sequence]).toEqual([expect.stringMatching(/status|redirects/), 0]);
    const more = await happen(2);
    later(300);
    await deliver();
    expect((await shown())['failing-since']).toBe(since);
    status = 200;
    await deliver();
    const [one, two, three, four] = received;
    expect([two, three].map((batch) => batch?.ids)).toEqual([one?.ids, one?.ids]);
    expect(three?.headers['x-stepform-sequence']).toBe('1');
    expect([four?.ids, four?.headers['x-stepform-sequence']]).toEqual([more, '2']);
    expect(await shown()).toMatchObject({ sequence: 2, failure: null, 'failing-since': null });
  });

  it('splits many events between batches, never within a millisecond', async () => {
    await put({ url: endpoint.url });
    const at = new Date(clock + 5000).toISOString();
    const all = await happen(490);
    for (let i = 0; i < 20; i++) {
      const id = `${String(++made).padStart(8, '0')}-0000-4000-8000-000000000000`;
      all.push(id);
      await keepEvent({
        ...{ id, at, organization, actor: 'user-1', by: 'user' },
        ...{ resource: { type: 'workspace', id: 'ws-1' }, action: 'update', allowed: true },
      });
    }
    all.push(...(await happen(200)));
    later(200);
    await deliver();
    const ids = received.flatMap((batch) => batch.ids);
    expect(ids.filter((id) => all.includes(id)).sort()).toEqual([...all].sort());
    expect(received.map(({ headers }) => headers['x-stepform-sequence'])).toEqual(['1', '2']);
  });

  it('is due a minute after the last delivery, until it ends or its organization does', async () => {
    await put({ url: endpoint.url });
    await happen(1);
    const { keys } = await import('#platform/store/keys.ts');
    const { get } = await import('#platform/store/table.ts');
    const key = keys.auditExport(organization);
    const dueIn = async () => (Date.parse((await get<{ dueAt: string }>(key))?.dueAt ?? '') - clock) / 1000;
    later(200);
    await deliver();
    expect(await dueIn()).toBeCloseTo(60, 0);
    expect(await handleDue(key)).toBeUndefined();
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await api.get(path)).status).toBe(404);
    await deliver();
    expect(received).toHaveLength(1);
    await put({ url: endpoint.url });
    await api.call('DELETE', `organizations/${organization}`);
    expect(await get(key)).toBeUndefined();
    // Set by a request that ran at the same time.
    const { setAuditExport } = await import('#resources/audit/export-records.ts');
    await setAuditExport(organization, endpoint.url, { 'X-Key': 'secret' });
    await deliver();
    expect(await get(key)).toBeUndefined();
  });

  it('never sends stored headers to another URL, and never returns them', async () => {
    const { body } = await put({ url: `${endpoint.url}/one`, headers: { 'X-Key': 'secret-value' } });
    expect(JSON.stringify([body, await shown()])).not.toContain('secret-value');
    await put({ url: `${endpoint.url}/two` });
    await happen(1);
    later(200);
    await deliver();
    expect(received).toHaveLength(1);
    expect(received[0]?.headers['x-key']).toBeUndefined();
    expect((await shown())['header-names']).toEqual([]);
  });

  it('does not reach internal addresses', async () => {
    await put({ url: endpoint.url });
    await happen(1);
    later(200);
    delete process.env.OUTBOUND_ALLOWED_CIDRS;
    await deliver();
    expect([received, (await shown()).failure]).toEqual([[], expect.stringContaining('address')]);
  });

  it.each([
    [{}, '/data/attributes/url'],
    [{ url: 'ftp://x.test' }, '/data/attributes/url'],
    [{ url: 'https://x.test', headers: { Host: 'y' } }, '/data/attributes/headers/Host'],
    [{ url: 'https://x.test', headers: { 'Content-Length': '1' } }, '/data/attributes/headers/Content-Length'],
    [
      { url: 'https://x.test', headers: { 'X-Stepform-Sequence': '1' } },
      '/data/attributes/headers/X-Stepform-Sequence',
    ],
    [{ url: 'https://x.test', headers: { Good: 'a\r\nHost: b' } }, '/data/attributes/headers/Good'],
    [{ url: 'https://x.test', headers: { 'bad name': 'a' } }, '/data/attributes/headers/bad name'],
    [
      { url: 'https://x.test', headers: { a: '1', b: '1', c: '1', d: '1', e: '1', f: '1' } },
      '/data/attributes/headers',
    ],
    [{ url: 'https://x.test', sequence: 'x', format: 'csv' }, '/data/attributes/format'],
  ])('refuses %j by name', async (attributes, pointer) => {
    const { status: answered, body } = await put(attributes);
    expect(answered).toBe(422);
    expect(body.errors.map(({ source }: { source: { pointer: string } }) => source.pointer)).toContain(pointer);
  });

  it('is set and ended by owners only', async () => {
    const members = await memberHelpers();
    const { token } = await members.withFlags(organization, 'manage-workspaces', 'manage-policies');
    expect((await put({ url: endpoint.url }, token)).status).toBe(403);
    await put({ url: endpoint.url });
    expect((await api.get(path, { token })).status).toBe(403);
    expect((await api.call('DELETE', path, { token })).status).toBe(403);
    const stranger = await members.newUser('stranger');
    expect((await api.get(path, { token: stranger.token })).status).toBe(404);
  });
});
