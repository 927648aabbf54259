import { beforeEach, describe, expect, it } from 'vitest';
import { detailOf, pointerOf, startApi, uniqueName } from '#test/support/api.ts';
import { payloadKeys, signatureOf, startTaskServer, status } from '#test/support/task-server.ts';

const api = await startApi();
const server = await startTaskServer();
beforeEach(() => {
  process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
  server.answer = status(200);
  server.requests.length = 0;
});

const tasks = 'organizations/acme/tasks';
const post = (attributes: object = {}, relationships?: object) =>
  api.post(tasks, { name: uniqueName('task'), url: server.url, category: 'task', ...attributes }, relationships);
const make = async (attributes: object = {}) => {
  const answer = await post(attributes);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body.data;
};
const refusal = (answer: { status: number; body: { errors: { source: object; detail: string }[] } }) => [
  answer.status,
  answer.body.errors[0]?.source,
  answer.body.errors[0]?.detail,
];
const at = (field: string) => ({ pointer: `/data/attributes/${field}` });

describe('run tasks of an organization', () => {
  it('are created, read, listed, changed and deleted', async () => {
    const task = await make({ name: 'scan', description: 'looks', 'hmac-key': 'secret' });
    expect(task).toMatchObject({
      type: 'tasks',
      id: expect.stringMatching(/^task-/),
      attributes: {
        name: 'scan',
        url: server.url,
        description: 'looks',
        category: 'task',
        enabled: true,
        'hmac-key': null,
        'global-configuration': { enabled: false, stages: [], 'enforcement-level': 'advisory' },
      },
      relationships: { organization: { data: { id: 'acme' } }, 'workspace-tasks': { data: [] } },
    });
    expect((await api.get(`tasks/${task.id}`)).body.data).toEqual(task);
    const listed = await api.get(`${tasks}?page[size]=100`);
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toContain(task.id);
    expect((await post({ name: 'scan' })).body.errors[0].detail).toBe('Name has already been taken');
    const changed = await api.patch(`tasks/${task.id}`, { name: 'scan-2', description: null, enabled: false });
    expect(changed.body.data.attributes).toMatchObject({ name: 'scan-2', description: null, enabled: false });
    await make({ name: 'scan' });
    expect((await api.patch(`tasks/${task.id}`, { name: 'scan' })).status).toBe(422);
    expect((await api.call('DELETE', `tasks/${task.id}`)).status).toBe(204);
    expect((await api.get(`tasks/${task.id}`)).status).toBe(404);
  });

  it('keep their key sealed and never return it', async () => {
    const secret = 'a key of its own';
    const createdTask = await make({ 'hmac-key': secret });
    const { getTask, openHmacKey } = await import('#resources/run-tasks/records.ts');
    const task = await getTask(createdTask.id);
    if (!task) throw new Error('gone');
    expect(JSON.stringify(task)).not.toContain(secret);
    expect(Buffer.from(task.sealedKey ?? []).toString('latin1')).not.toContain(secret);
    expect(await openHmacKey(task)).toBe(secret);
    await api.patch(`tasks/${createdTask.id}`, { 'hmac-key': '' });
    expect((await getTask(createdTask.id))?.sealedKey).toBeUndefined();
    expect(JSON.stringify((await api.get(`tasks/${createdTask.id}`)).body)).not.toContain(secret);
  });

  it('can be global', async () => {
    const task = await make({
      'global-configuration': { enabled: true, stages: ['post_plan', 'pre_plan'], 'enforcement-level': 'mandatory' },
    });
    expect(task.attributes['global-configuration']).toEqual({
      enabled: true,
      stages: ['post_plan', 'pre_plan'],
      'enforcement-level': 'mandatory',
    });
    const { listGlobalTasks } = await import('#resources/run-tasks/records.ts');
    const ids = async () => (await listGlobalTasks('acme')).map(({ id }) => id);
    expect(await ids()).toContain(task.id);
    const off = await api.patch(`tasks/${task.id}`, { 'global-configuration': { enabled: false } });
    expect(off.body.data.attributes['global-configuration']).toMatchObject({
      enabled: false,
      stages: ['post_plan', 'pre_plan'],
    });
    expect(await ids()).not.toContain(task.id);
    expect((await api.get('organizations/acme/entitlement-set')).body.data.attributes).toMatchObject({
      'run-tasks': true,
      'global-run-tasks': true,
      'run-task-limit': 200,
    });
  });

  it.each<[string, object, string]>([
    ['no name', { name: null }, 'name'],
    ['a name with spaces', { name: 'a b' }, 'name'],
    ['no url', { url: undefined }, 'url'],
    ['a url of no kind', { url: 'nowhere' }, 'url'],
    ['a url of another kind', { url: 'ftp://task.test/' }, 'url'],
    ['a url with a password', { url: 'https://me:you@task.test/' }, 'url'],
    ['a url to metadata', { url: 'http://169.254.169.254/latest' }, 'url'],
    ['a url to a private network', { url: 'http://10.0.0.1/' }, 'url'],
    ['a url too long', { url: `https://task.test/${'x'.repeat(1000)}` }, 'url'],
    ['another category', { category: 'other' }, 'category'],
    ['an invalid key', { 'hmac-key': 5 }, 'hmac-key'],
    ['an invalid stage', { 'global-configuration': { stages: ['plan'] } }, 'global-configuration/stages/0'],
    [
      'an invalid level',
      { 'global-configuration': { 'enforcement-level': 'hard' } },
      'global-configuration/enforcement-level',
    ],
  ])('are rejected with %s, without a request', async (_, attributes, field) => {
    const [code, source] = refusal(await post(attributes));
    expect([code, source]).toEqual([422, at(field)]);
    expect(server.requests).toEqual([]);
  });

  it('cannot use agent pools', async () => {
    const answer = await post({}, { 'agent-pool': { data: { type: 'agent-pools', id: 'apool-1' } } });
    expect(answer.body.errors[0].detail).toBe('The provided agent pool does not exist');
  });
});

describe('the verification of a run task', () => {
  it('is a signed request with every field', async () => {
    await make({ 'hmac-key': 'secret' });
    const [request, ...more] = server.requests;
    expect(more).toEqual([]);
    expect(request?.method).toBe('POST');
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'TFC/1.0 (+https://api.example.test; TFC)',
      'x-tfc-task-signature': signatureOf(request?.bytes as Buffer, 'secret'),
    });
    expect(request?.payload).toMatchObject({
      payload_version: 1,
      access_token: 'test-token',
      organization_name: 'acme',
      capabilities: { outcomes: true },
    });
    expect(Object.keys(request?.payload ?? {}).sort()).toEqual(payloadKeys('post_plan'));
  });

  it('has an empty signature without a key', async () => {
    await make();
    expect(server.requests[0]?.headers['x-tfc-task-signature']).toBe('');
  });

  it('is sent again after a change of URL or key, signed with the current key, and after no other change', async () => {
    const task = await make({ 'hmac-key': 'first' });
    await api.patch(`tasks/${task.id}`, { description: 'x', enabled: false, url: server.url });
    expect(server.requests).toHaveLength(1);
    await api.patch(`tasks/${task.id}`, { url: `${server.url}moved` });
    await api.patch(`tasks/${task.id}`, { 'hmac-key': 'second' });
    await api.patch(`tasks/${task.id}`, { 'hmac-key': null });
    const [, moved, rotated, unsigned] = server.requests;
    expect([moved?.path, rotated?.path]).toEqual(['/moved', '/moved']);
    expect([moved, rotated, unsigned].map((request) => request?.headers['x-tfc-task-signature'])).toEqual([
      signatureOf(moved?.bytes as Buffer, 'first'),
      signatureOf(rotated?.bytes as Buffer, 'second'),
      '',
    ]);
  });

  it.each([201, 204, 302, 401, 404, 500])('rejects a task that responds with %i', async (code) => {
    server.answer = status(code, { location: server.url });
    const [answered, source, detail] = refusal(await post());
    expect([answered, source]).toEqual([422, at('url')]);
    expect(detail).toContain(`it answered ${code} instead of 200`);
  });

  it('rejects a new key that the task does not accept, and changes nothing', async () => {
    const task = await make({ 'hmac-key': 'known' });
    server.answer = ({ bytes, headers }, response) =>
      response.writeHead(headers['x-tfc-task-signature'] === signatureOf(bytes, 'known') ? 200 : 401).end();
    const [answered, source] = refusal(await api.patch(`tasks/${task.id}`, { 'hmac-key': 'other', name: 'renamed' }));
    expect([answered, source]).toEqual([422, at('hmac-key')]);
    expect((await api.get(`tasks/${task.id}`)).body.data.attributes.name).toBe(task.attributes.name);
    expect((await api.patch(`tasks/${task.id}`, { url: `${server.url}x` })).status).toBe(200);
  });

  it('does not follow redirects to private addresses, nor to loopback on AWS', async () => {
    server.answer = status(307, { location: 'http://169.254.169.254/latest/meta-data/iam/' });
    expect(refusal(await post())).toEqual([422, at('url'), expect.stringContaining('169.254.169.254')]);
    process.env.OUTBOUND_ALLOWED_CIDRS = '';
    server.requests.length = 0;
    expect(refusal(await post())).toEqual([422, at('url'), expect.stringContaining('reserved address')]);
    expect(server.requests).toEqual([]);
  });
});

describe('run tasks of a workspace', () => {
  const attach = (workspace: string, task: string, attributes: object = {}) =>
    api.post(
      `workspaces/${workspace}/tasks`,
      { 'enforcement-level': 'mandatory', ...attributes },
      { task: { data: { type: 'tasks', id: task } } },
    );

  it('are attached once, changed, listed and removed', async () => {
    const [workspace, task] = [await api.workspace(), await make()];
    const answer = await attach(workspace.id, task.id, { stages: ['pre_apply', 'pre_plan', 'pre_plan'] });
    const attachment = answer.body.data;
    expect([answer.status, attachment]).toEqual([
      201,
      expect.objectContaining({
        type: 'workspace-tasks',
        attributes: expect.objectContaining({
          'enforcement-level': 'mandatory',
          stage: 'pre_apply',
          stages: ['pre_apply', 'pre_plan'],
        }),
        relationships: {
          task: { data: { type: 'tasks', id: task.id } },
          workspace: { data: { type: 'workspaces', id: workspace.id } },
        },
      }),
    ]);
    expect((await attach(workspace.id, task.id)).status).toBe(422);
    const path = `workspaces/${workspace.id}/tasks/${attachment.id}`;
    const changed = await api.patch(path, { 'enforcement-level': 'advisory', stage: 'post_apply' });
    expect(changed.body.data.attributes).toMatchObject({ 'enforcement-level': 'advisory', stages: ['post_apply'] });
    expect((await api.get(path)).body.data).toEqual(changed.body.data);
    expect((await api.get(`workspaces/${workspace.id}/tasks`)).body.data).toEqual([changed.body.data]);
    const ofTask = await api.get(`tasks/${task.id}?include=workspace_tasks,workspace_tasks.workspace`);
    expect(ofTask.body.data.relationships['workspace-tasks'].data).toEqual([
      { type: 'workspace-tasks', id: attachment.id },
    ]);
    expect(ofTask.body.included.map(({ id }: { id: string }) => id)).toEqual([attachment.id, workspace.id]);
    expect((await api.get(`tasks/${task.id}/relationships/workspace-tasks`)).body.data).toHaveLength(1);

    const refused = await api.call('DELETE', `tasks/${task.id}`);
    expect(detailOf(refused)).toEqual([409, expect.stringContaining(workspace.attributes.name)]);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await api.get(path)).status).toBe(404);
    expect((await api.patch(path, {})).status).toBe(404);
    expect((await api.call('DELETE', `tasks/${task.id}`)).status).toBe(204);
  });

  it('default to the post-plan stage', async () => {
    const response = await attach((await api.workspace()).id, (await make()).id);
    expect(response.body.data.attributes.stages).toEqual(['post_plan']);
  });

  it('are deleted with their workspace', async () => {
    const [workspace, task] = [await api.workspace(), await make()];
    await attach(workspace.id, task.id);
    await api.call('DELETE', `workspaces/${workspace.id}`);
    expect((await api.get(`tasks/${task.id}`)).body.data.relationships['workspace-tasks'].data).toEqual([]);
    expect((await api.call('DELETE', `tasks/${task.id}`)).status).toBe(204);
  });

  it('must belong to the same organization', async () => {
    await api.post('organizations', { name: 'elsewhere', email: 'a@b.test' });
    const theirs = (await api.post('organizations/elsewhere/tasks', { name: 'theirs', url: server.url })).body.data;
    const answer = await attach((await api.workspace()).id, theirs.id);
    expect(pointerOf(answer)).toEqual([422, '/data/relationships/task']);
  });

  it.each<[string, object, string]>([
    ['no level', { 'enforcement-level': undefined }, '/data/attributes/enforcement-level'],
    ['an invalid level', { 'enforcement-level': 'hard-mandatory' }, '/data/attributes/enforcement-level'],
    ['an invalid stage', { stages: ['apply'] }, '/data/attributes/stages/0'],
    ['no stages at all', { stages: [] }, '/data/attributes/stages'],
  ])('are rejected with %s', async (_, attributes, pointer) => {
    const answer = await attach((await api.workspace()).id, (await make()).id, attributes);
    expect(pointerOf(answer)).toEqual([422, pointer]);
  });

  it('are rejected without a task', async () => {
    const answer = await api.post(`workspaces/${(await api.workspace()).id}/tasks`, {
      'enforcement-level': 'advisory',
    });
    expect(pointerOf(answer)).toEqual([422, '/data/relationships/task']);
  });
});
