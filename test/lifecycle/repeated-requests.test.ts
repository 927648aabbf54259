import { afterEach, expect, it, vi } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { on, runHelpers } from '#test/support/runs.ts';

vi.spyOn(console, 'error').mockImplementation(() => {});
const api = await startApi();
const help = await runHelpers(api);
afterEach(() => vi.useRealTimers());

let keys = 0;
const newKey = () => `key-${++keys}`;
const create = (workspaceId: string, key: string, message = 'once', token?: string) =>
  api.call('POST', 'runs', {
    body: { data: { type: 'runs', attributes: { message }, relationships: on(workspaceId) } },
    headers: { 'idempotency-key': key },
    ...(token ? { token } : {}),
  });
const listed = async (workspaceId: string): Promise<string[]> =>
  (await api.get(`workspaces/${workspaceId}/runs`)).body.data.map(({ id }: { id: string }) => id);
const detail = ({ body }: { body: { errors: { detail: string }[] } }) => body.errors[0]?.detail;

it('a repeated creation returns the same run, also if both requests are concurrent', async () => {
  const { id } = await help.ready();
  const key = newKey();
  const answers = await Promise.all([create(id, key), create(id, key)]);
  // With quotes, as in the draft of the header's specification.
  const before = api.aws.calls;
  answers.push(await create(id, `"${key}"`));
  expect(api.aws.calls - before, 'freezes nothing again').toBeLessThan(12);
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  const [runId] = answers.map(({ body }) => body.data.id);
  expect(answers.map(({ body }) => body.data.id)).toEqual([runId, runId, runId]);
  expect(await listed(id)).toEqual([runId]);
  const { firstEntries } = await import('#resources/workspaces/queue-entries.ts');
  expect((await firstEntries(id, 10)).map((entry) => entry.runId)).toEqual([runId]);
});

it('the audit trail names the run', async () => {
  const { id } = await help.ready();
  const run = (await create(id, newKey())).body.data.id;
  const { data } = (await api.get('organization/audit-trail?sort=-timestamp')).body;
  const events = data.filter(({ resource }: { resource: { id: string } }) => resource.id === run);
  expect(events.map(({ resource }: { resource: { action: string } }) => resource.action)).toContain('create');
});

it('retries create one run in total, regardless of where the first attempt was interrupted', async () => {
  for (const when of ['before', 'after', 'late'] as const) {
    let isCut = true;
    for (let n = 1; isCut; n++) {
      const { id } = await help.ready();
      const key = newKey();
      api.aws.failCall(n, when);
      const first = await create(id, key);
      isCut = !api.aws.pendingFault;
      api.aws.failCall(0, when);
      await api.aws.letLateCome();
      const again = await create(id, key);
      expect(again.status, `${when} call ${n}`).toBe(201);
      if (first.status === 201) expect(again.body.data.id).toBe(first.body.data.id);
      expect(await listed(id), `${when} call ${n}`).toEqual([again.body.data.id]);
      const started = api.aws.sent.filter(
        ({ action, input }) => action === 'StartExecution' && input.name === again.body.data.id,
      );
      expect(started.length, `${when} call ${n}`).toBeGreaterThan(0);
    }
  }
});

it('a key that was used with another body is rejected, and the error names the run', async () => {
  const { id } = await help.ready();
  const key = newKey();
  const first = await create(id, key);
  const other = await create(id, key, 'another message');
  expect(other.status).toBe(422);
  expect(detail(other)).toBe(
    `Idempotency-Key: was used for ${first.body.data.id} with another body. Send the same body again, or use a new key.`,
  );
  const atOnce = newKey();
  const answers = await Promise.all([create(id, atOnce, 'a'), create(id, atOnce, 'b')]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
});

it('the same key of another caller or workspace creates another run', async () => {
  const key = newKey();
  const [one, second] = [await help.ready(), await help.ready()];
  const other = await help.user('write');
  const answers = [
    await create(one.id, key),
    await create(second.id, key),
    await create(one.id, key, 'once', other.token),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(3);
});

it('a key is rejected after 24 hours', async () => {
  const { id } = await help.ready();
  const key = newKey();
  const first = await create(id, key);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * 3600 * 1000 - 60_000 });
  expect((await create(id, key)).body.data.id).toBe(first.body.data.id);
  vi.setSystemTime(Date.now() + 120_000);
  const late = await create(id, key);
  expect([late.status, detail(late)]).toEqual([
    422,
    `Idempotency-Key: was used for ${first.body.data.id} more than 24 hours ago. Use a new key.`,
  ]);
});

it.each(['', ' ', 'x'.repeat(129), 'ключ', 'a b', '"open'])('the key %j is rejected with 400', async (key) => {
  const { id } = await help.ready();
  const answer = await create(id, key);
  expect([answer.status, detail(answer)]).toEqual([
    400,
    'Idempotency-Key: must be 1 to 128 printable ASCII characters without quotes and spaces, such as a UUID.',
  ]);
  expect(await listed(id)).toEqual([]);
});

it('the header is rejected on a POST that does not support it, and ignored on other methods', async () => {
  const { id } = await help.ready();
  const headers = { 'idempotency-key': newKey() };
  for (const path of [`workspaces/${id}/actions/lock`, 'organizations']) {
    const answer = await api.call('POST', path, { body: {}, headers });
    expect([answer.status, detail(answer)]).toEqual([
      400,
      expect.stringMatching(/^Idempotency-Key: .*does not support it/),
    ]);
  }
  expect((await api.get(`workspaces/${id}`, { headers })).body.data.attributes.locked).toBe(false);
});

it("the command line's repeated requests create one run for its configuration", async () => {
  const terraform = { headers: { 'user-agent': 'HashiCorp Terraform/1.11.4', 'x-terraform-integration': 'cloud' } };
  const send = async (version: string, workspaceId: string, sent: object = terraform) => {
    const body = { data: { type: 'runs', attributes: {}, relationships: on(workspaceId, version) } };
    const { status, body: answer } = await api.call('POST', 'runs', { body, ...sent });
    expect(status).toBe(201);
    return answer.data.id as string;
  };
  const { id } = await api.workspace();
  const made = await api.call('POST', `workspaces/${id}/configuration-versions`, {
    body: { data: { type: 'configuration-versions', attributes: { 'auto-queue-runs': false } } },
    ...terraform,
  });
  const version = made.body.data.id;
  const first = await send(version, id);
  expect(await send(version, id)).toBe(first);
  expect(await send(version, id, {}), 'a request of another client').not.toBe(first);
  expect(await listed(id)).toHaveLength(2);
});
