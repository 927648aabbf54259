import { describe, expect, it } from 'vitest';
import { type Api, startApi, uniqueName } from '#test/support/api.ts';
import { stateFile } from '#test/support/state.ts';

/** Requests that are larger than any legitimate one. */

const api = await startApi();

const path = 'organizations/acme/workspaces';
const document = (attributes: object) => JSON.stringify({ data: { attributes } });
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

/** Expects this rejection, without access to the table. */
const refused = async (status: number, words: RegExp, sent: Parameters<Api['call']>[2], at = path, method = 'POST') => {
  const before = api.aws.calls;
  const answer = await api.call(method, at, sent);
  expect([answer.status, answer.body.errors[0].status]).toEqual([status, String(status)]);
  expect(answer.body.errors[0].detail).toMatch(words);
  return { ...answer, calls: api.aws.calls - before };
};

describe('a request body', () => {
  const large = document({ name: 'x'.repeat(2 * 1024 * 1024) });

  it('is limited to 2 MiB, as text or in base64', async () => {
    for (const base64 of [false, true]) {
      expect((await refused(413, /the maximum is 2097152/, { body: large, base64 })).calls).toBe(0);
    }
  });

  it('is measured in bytes, not characters', async () => {
    await refused(413, /the maximum is 2097152/, { body: document({ name: 'é'.repeat(1024 * 1024) }) });
  });

  it('may be larger when it carries a state', async () => {
    const { id } = await api.workspace();
    const outputs = { text: { value: 'x'.repeat(2 * 1024 * 1024), type: 'string' } };
    const { text, ...attributes } = stateFile({ outputs });
    await api.call('POST', `workspaces/${id}/actions/lock`);
    const state = Buffer.from(text).toString('base64');
    expect((await api.post(`workspaces/${id}/state-versions`, { ...attributes, state })).status).toBe(201);
    const most = document({ state: 'x'.repeat(4_500_000) });
    await refused(413, /the maximum is 4500000/, { body: most }, `workspaces/${id}/state-versions`);
  });

  it('is accepted with the largest variable, however it is escaped', async () => {
    const { id } = await api.workspace();
    const value = '\u0001'.repeat(256 * 1024);
    const answer = await api.post(`workspaces/${id}/vars`, { key: 'large', category: 'env', value });
    expect(answer.status).toBe(201);
  });

  it('is limited to 32 levels of nesting', async () => {
    const name = uniqueName('deep');
    const body = (depth: number) => `{"data":{"attributes":{"name":"${name}"}},"meta":${nested(depth + 2)}}`;
    expect((await api.call('POST', path, { body: body(29) })).status).toBe(201);
    await refused(400, /the maximum is 32 levels/, { body: body(30) });
    await refused(400, /the maximum is 32 levels/, { body: nested(200_000) });
  });

  it('is limited to lists of 1,000 entries', async () => {
    const body = { data: Array.from({ length: 1001 }, (_, i) => ({ type: 'workspaces', id: `ws-${i}` })) };
    const { id } = await api.workspace();
    const consumers = `workspaces/${id}/relationships/remote-state-consumers`;
    const { body: answer } = await refused(422, /at most 1000/, { body }, consumers);
    expect(answer.errors[0].source.pointer).toBe('/data');
  });

  it('needs a JSON or generic content type', async () => {
    const attempt = (type: string) => ({ body: document({ name: 'typed' }), headers: { 'content-type': type } });
    for (const type of ['text/html', 'application/xml', 'multipart/form-data; boundary=x', 'application/jsonp']) {
      await refused(415, /application\/vnd\.api\+json/, attempt(type));
    }
    const headers = { 'content-type': 'application/vnd.api+json', 'content-encoding': 'gzip' };
    await refused(415, /not be compressed/, { body: 'x', headers });
  });
});

describe('a query', () => {
  it('is limited to 4,096 characters and 100 parameters', async () => {
    const long = `${path}?search[name]=${'x'.repeat(4096)}`;
    expect((await refused(414, /the maximum is 4096/, {}, long, 'GET')).calls).toBe(0);
    const many = `${path}?${Array.from({ length: 101 }, (_, i) => `a${i}=1`).join('&')}`;
    await refused(400, /the maximum is 100/, {}, many, 'GET');
    expect((await api.get(`${path}?search[name]=${'x'.repeat(4000)}`)).status).toBe(200);
  });
});

it('a malformed token is rejected without reading the table', async () => {
  const before = api.aws.calls;
  expect((await api.get('account/details', { token: 'x'.repeat(8000) })).status).toBe(401);
  expect(api.aws.calls).toBe(before);
});

it('an extremely nested state is rejected with a message', async () => {
  const { id } = await api.workspace();
  await api.call('POST', `workspaces/${id}/actions/lock`);
  const { createHash } = await import('node:crypto');
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const text = `{"version":4,"serial":1,"lineage":"l","outputs":{"a":{"type":"dynamic","value":${deep}}},"resources":[]}`;
  const input = { serial: 1, lineage: 'l', md5: createHash('md5').update(text).digest('hex') };
  const answer = await api.post(`workspaces/${id}/state-versions`, {
    ...input,
    state: Buffer.from(text).toString('base64'),
  });
  expect(answer.status).toBe(422);
  expect(answer.body.errors[0].detail).toMatch(/nested/);
});

it('malformed ids in bodies are rejected', async () => {
  const { id } = await api.workspace();
  const long = 'x'.repeat(5000);
  const to = (type: string) => ({ data: { type, id: long } });
  const answers = await Promise.all([
    api.post('runs', {}, { workspace: to('workspaces') }),
    api.post('runs', {}, { workspace: { data: { type: 'workspaces', id } }, 'configuration-version': to('x') }),
    api.post(path, { name: uniqueName('ws') }, { project: to('projects') }),
    api.patch(`workspaces/${id}`, {}, { project: to('projects') }),
    api.post(`workspaces/${id}/run-triggers`, {}, { sourceable: to('workspaces') }),
    api.post(`workspaces/${id}/tasks`, { 'enforcement-level': 'advisory' }, { task: to('tasks') }),
    api.post('organizations/acme/varsets', { name: uniqueName('set') }, { parent: to('projects') }),
    api.post(
      'organizations/acme/varsets',
      { name: uniqueName('set') },
      { workspaces: { data: [to('workspaces').data] } },
    ),
    api.post(
      'organizations/acme/policy-sets',
      { name: uniqueName('p') },
      { workspaces: { data: [to('workspaces').data] } },
    ),
    api.post('team-workspaces', { access: 'read' }, { team: to('teams'), workspace: to('workspaces') }),
    api.post('team-projects', { access: 'read' }, { team: to('teams'), project: to('projects') }),
    api.post('organizations/acme/organization-memberships', { email: `${long}@x.test` }),
    api.call('POST', `workspaces/${id}/relationships/remote-state-consumers`, {
      body: { data: [to('workspaces').data] },
    }),
  ]);
  const unexpected = answers
    .map(({ status }, i) => [i, status])
    .filter(([, status]) => ![404, 409, 422].includes(status as number));
  expect(unexpected).toEqual([]);
});
