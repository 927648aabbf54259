import { describe, expect, it } from 'vitest';
import { type Answered, startApi, uniqueName } from '#test/support/api.ts';
import { startTaskServer } from '#test/support/task-server.ts';

/** Two users edit the same settings; the second gets an error instead of overwriting the first one's change. */

const api = await startApi();
const server = await startTaskServer();
process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
const { createUser } = await import('#resources/users/users.ts');
const { createToken } = await import('#resources/users/tokens.ts');
const { addMember } = await import('#resources/users/memberships.ts');
const { id } = await createUser({ username: 'ada', email: 'ada@some.test' });
await addMember('acme', id, 'owner');
const other = (await createToken(id, '')).secret;

const task = async (): Promise<string> =>
  `tasks/${await createIn('tasks', { url: server.url, category: 'task', enabled: false })}`;

const createIn = async (collection: string, attributes: object): Promise<string> => {
  const answer = await api.post(`organizations/acme/${collection}`, { name: uniqueName('thing'), ...attributes });
  return answer.body.data.id;
};

const variable = async (path: string, category: string): Promise<string> => {
  const answer = await api.post(path, { key: uniqueName('key'), value: 'x', category });
  return `${path}/${answer.body.data.id}`;
};

const notification = async (): Promise<string> => {
  const { id } = await api.workspace();
  const values = { name: 'n', 'destination-type': 'generic', url: server.url };
  const answer = await api.post(`workspaces/${id}/notification-configurations`, values);
  return `notification-configurations/${answer.body.data.id}`;
};

const kinds: [what: string, path: () => Promise<string>, field: string, values: unknown[]][] = [
  ['team', async () => `teams/${await createIn('teams', {})}`, 'sso-team-id', ['a', 'b', 'c']],
  ['project', async () => `projects/${await createIn('projects', {})}`, 'description', ['a', 'b', 'c']],
  ['policy set', async () => `policy-sets/${await createIn('policy-sets', {})}`, 'description', ['a', 'b', 'c']],
  ['variable set', async () => `varsets/${await createIn('varsets', {})}`, 'description', ['a', 'b', 'c']],
  [
    'agent pool',
    async () => `agent-pools/${await createIn('agent-pools', {})}`,
    'organization-scoped',
    [false, true, false],
  ],
  ['run task', task, 'description', ['a', 'b', 'c']],
  ['workspace', async () => `workspaces/${await createIn('workspaces', {})}`, 'description', ['a', 'b', 'c']],
  [
    'variable',
    async () => variable(`workspaces/${await createIn('workspaces', {})}/vars`, 'env'),
    'value',
    ['a', 'b', 'c'],
  ],
  [
    'parameter',
    async () => variable(`policy-sets/${await createIn('policy-sets', {})}/parameters`, 'policy-set'),
    'value',
    ['a', 'b', 'c'],
  ],
  ['notification configuration', notification, 'name', ['a', 'b', 'c']],
  ['organization', async () => 'organizations/acme', 'email', ['a@b.test', 'b@b.test', 'c@b.test']],
];

const change = (path: string, attributes: object, tag?: string, token?: string): Promise<Answered> =>
  api.call('PATCH', path, { token, body: { data: { attributes } }, headers: tag ? { 'if-match': tag } : {} });

describe.each(kinds)('optimistic locking of a %s', (what, make, field, [first, second, third]) => {
  const shown = async (path: string) => (await api.get(path)).body.data.attributes[field];

  it('accepts the current ETag in If-Match and rejects an outdated one with 412', async () => {
    const path = await make();
    const { etag = '' } = (await api.get(path)).headers;
    expect(etag).toMatch(/^"(\d+|vv-\w+)"$/);
    const early = await change(path, { [field]: first }, '"vv-7"');
    expect([early.status, early.body.errors[0].meta?.['changed-by']], 'unchanged so far').toEqual([412, undefined]);
    const done = await change(path, { [field]: first }, etag, other);
    expect(done.status).toBe(200);
    expect(done.headers.etag).not.toBe(etag);
    expect((await api.get(path)).headers.etag).toBe(done.headers.etag);

    const late = await change(path, { [field]: second }, etag);
    expect(late.status).toBe(412);
    expect(late.body.errors[0]).toMatchObject({
      title: 'precondition failed',
      detail: expect.stringContaining(`ada changed the ${what} at 2`),
      meta: { 'changed-by': 'ada', 'changed-at': expect.stringMatching(/^2.*Z$/) },
    });
    expect(await shown(path)).toBe(first);
    expect((await change(path, { [field]: second }, `"7", W/${done.headers.etag}`)).status).toBe(200);
    expect((await change(path, { [field]: third }, '*')).status).toBe(200);
  });

  it('changes without If-Match overwrite', async () => {
    const path = await make();
    for (const value of [first, second]) expect((await change(path, { [field]: value })).status).toBe(200);
    expect(await shown(path)).toBe(second);
  });

  it('lets one of several concurrent changes win', async () => {
    const path = await make();
    const { etag } = (await api.get(path)).headers;
    const answers = await Promise.all([first, second, third].map((value) => change(path, { [field]: value }, etag)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    expect(await shown(path)).toBe(answers.find(({ status }) => status === 200)?.body.data.attributes[field]);
  });
});

it.each(kinds.slice(0, 7))('frees the new name when renaming a %s fails', async (_, make) => {
  const [path, elsewhere] = [await make(), await make()];
  const { etag } = (await api.get(path)).headers;
  const [name, taken] = [uniqueName('new'), uniqueName('taken')];
  await change(elsewhere, { name: taken });
  expect((await change(path, { name: taken }, etag)).status).toBe(422);
  const renamed = await Promise.all([change(path, { name: uniqueName('won') }, etag), change(path, { name }, etag)]);
  expect(renamed.map(({ status }) => status).sort()).toEqual([200, 412]);
  const lost = renamed.find(({ status }) => status === 412) === renamed[1];
  if (lost) expect((await change(elsewhere, { name })).status).toBe(200);
  else expect((await change(elsewhere, { name })).status).toBe(422);
});

it('a project keeps all tags that are added concurrently', async () => {
  const path = `projects/${await createIn('projects', {})}/relationships/tag-bindings`;
  const keys = ['a', 'b', 'c', 'd'];
  const add = (key: string) =>
    api.call('POST', path, { body: { data: [{ type: 'tag-bindings', attributes: { key, value: '' } }] } });
  expect((await Promise.all(keys.map(add))).map(({ status }) => status)).toEqual([204, 204, 204, 204]);
  const { body } = await api.get(path);
  expect(body.data.map(({ attributes }: { attributes: { key: string } }) => attributes.key).sort()).toEqual(keys);
});
