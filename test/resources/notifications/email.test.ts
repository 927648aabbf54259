import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AwsError } from '#infra/local/host/errors.ts';
import { detailOf, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { runHelpers } from '#test/support/runs.ts';

/** Notifications by e-mail, to an SES that records messages. */

interface Message {
  FromEmailAddress: string;
  Destination: { ToAddresses: string[] };
  Content: {
    Simple: {
      Subject: { Data: string };
      Body: { Text: { Data: string } };
      Headers?: { Name: string; Value: string }[];
    };
  };
}

let messages: Message[] = [];
let refusal: (address: string) => AwsError | undefined;
const none = () => undefined;

const api = await startApi();
const notify = (await import('#resources/notifications/handler.ts')).handler;
api.aws.mail = async (message) => {
  messages.push(message as Message);
  const refused = refusal((message as Message).Destination.ToAddresses.join());
  if (refused) throw refused;
};
beforeEach(() => {
  process.env.EMAIL_SENDER = 'terraform@example.com';
  messages = [];
  refusal = none;
});

const post = (workspaceId: string, change: object = {}, userIds?: string[]) =>
  api.post(
    `workspaces/${workspaceId}/notification-configurations`,
    { name: 'mail', 'destination-type': 'email', enabled: true, triggers: ['run:created'], ...change },
    userIds ? { users: { data: userIds.map((id) => ({ type: 'users', id })) } } : {},
  );
const member = async (): Promise<{ id: string; email: string }> => {
  const members = await memberHelpers();
  const { addMember } = await import('#resources/users/memberships.ts');
  const name = uniqueName('reader');
  const { id } = await members.newUser(name);
  await addMember('acme', id);
  return { id, email: `${name}@b.test` };
};
const runIn = async (message?: string) => {
  const help = await runHelpers(api);
  const workspace = (await help.ready()).id;
  const { updateRun } = await import('#resources/runs/records.ts');
  const runId = (await help.create(workspace)).id as string;
  if (message) await updateRun(runId, { set: { message } });
  return { workspace, runId };
};
const created = { kind: 'run', trigger: 'run:created', status: 'pending' } as const;
const toOf = () => messages.flatMap(({ Destination }) => Destination.ToAddresses);
const textOf = (message: Message | undefined) => message?.Content.Simple.Body.Text.Data ?? '';
const linkIn = (message: Message | undefined): string => {
  const [, path] = /http:\/\/127\.0\.0\.1:1\/api\/v2\/(email-recipient-statuses\S+)/.exec(textOf(message)) ?? [];
  if (!path) throw new Error(`no link in ${textOf(message)}`);
  return path;
};
const responses = async (id: string) =>
  (await api.get(`notification-configurations/${id}`)).body.data.attributes['delivery-responses'];
/** Opens a page like a browser, without a token. */
const open = (path: string) => api.call('GET', path, { token: null, headers: { accept: 'text/html' } });
const press = (path: string, fields: Record<string, string>) =>
  api.call('POST', path, {
    token: null,
    body: String(new URLSearchParams(fields)),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

describe('a configuration', () => {
  it('is rejected by name without a configured sender', async () => {
    delete process.env.EMAIL_SENDER;
    const { status, body } = await post((await api.workspace()).id);
    expect([status, body.errors[0].source.pointer]).toEqual([422, '/data/attributes/destination-type']);
    expect(body.errors[0].detail).toContain('emailSender');
  });

  it('has addresses and members, and neither URL, token nor strangers', async () => {
    const { id } = await api.workspace();
    const reader = await member();
    const made = await post(id, { 'email-addresses': ['a@ops.test', 'a@ops.test'] }, [reader.id]);
    expect(made.body.data).toMatchObject({
      attributes: { 'destination-type': 'email', url: null, 'email-addresses': ['a@ops.test'] },
      relationships: { users: { data: [{ type: 'users', id: reader.id }] } },
    });
    const refused = async (change: object, users?: string[]) => {
      const { status, body } = await post(id, change, users);
      return [status, body.errors?.[0].source.pointer];
    };
    expect(await refused({ url: 'https://a.test' })).toEqual([422, '/data/attributes/url']);
    expect(await refused({ token: 'secret' })).toEqual([422, '/data/attributes/token']);
    const { body } = await post(id, { token: 'secret' });
    expect(body.errors[0].detail).toContain('e-mails are not signed');
    expect(await refused({}, ['user-stranger'])).toEqual([422, '/data/relationships/users']);
    const lines = ['a@b.test\r\nBcc: c@d.test', 'a@b.test,c@d.test', 'A <a@b.test>', 'a@b'];
    for (const address of lines) {
      const [status, pointer] = await refused({ 'email-addresses': [address] });
      expect([address, status, pointer]).toEqual([
        address,
        422,
        expect.stringContaining('/data/attributes/email-addresses'),
      ]);
    }
    const webhook = { 'destination-type': 'slack', url: 'https://a.test', enabled: false };
    const [error] = (await post(id, { ...webhook, 'email-addresses': ['a@b.test'] })).body.errors;
    expect([error.source.pointer, error.detail]).toEqual([
      '/data/attributes/email-addresses',
      'email-addresses: only destination-type email has recipients. Remove them',
    ]);
  });

  it('changes its recipients, and shows at most 1000 characters of a delivery', async () => {
    const { workspace, runId } = await runIn();
    const [before, after] = [await member(), await member()];
    const { id } = (await post(workspace, {}, [before.id])).body.data;
    const users = (data: object[]) => api.patch(`notification-configurations/${id}`, {}, { users: { data } });
    expect((await users([{ type: 'users', id: after.id }])).status).toBe(200);
    expect((await users([{ type: 'users', id: 'user-stranger' }])).status).toBe(422);
    await notify({ id: 'e1', runId, ...created });
    expect(toOf()).toEqual([after.email]);
    const { body } = await api.patch(`notification-configurations/${id}`, { enabled: true });
    expect(body.data.relationships.users.data).toEqual([]);
    const many = Array.from({ length: 40 }, (_, n) => `person-${n}@outside.test`);
    await api.patch(`notification-configurations/${id}`, { 'email-addresses': many });
    await notify({ id: 'e2', runId, kind: 'run', trigger: 'run:created', status: 'planning' });
    expect((await responses(id))[0].body).toHaveLength(1000);
  });
});

describe('an e-mail', () => {
  it('goes to each member separately, once, with any message of the run', async () => {
    const { workspace, runId } = await runIn('Hi\r\nBcc: victim@example.com\r\n\r\nbody');
    const [one, two] = [await member(), await member()];
    const { id } = (await post(workspace, {}, [one.id, two.id])).body.data;
    for (let i = 0; i < 2; i++) await notify({ id: 'e1', runId, ...created });
    expect(toOf().sort()).toEqual([one.email, two.email].sort());
    const [first] = messages;
    expect(first?.FromEmailAddress).toBe('stepform <terraform@example.com>');
    expect(first?.Destination).toEqual({ ToAddresses: [expect.any(String)] });
    expect(first?.Content.Simple.Subject.Data).toMatch(/: Run created$/);
    expect(textOf(first)).toContain('Run: Hi Bcc: victim@example.com body');
    expect(first?.Content.Simple.Headers?.map(({ Name }) => Name)).toEqual([
      'List-Unsubscribe',
      'List-Unsubscribe-Post',
    ]);
    expect(await responses(id)).toEqual([
      expect.objectContaining({ code: '200', successful: 'true', body: 'Sent to 2 of 2 recipients.' }),
    ]);
  });

  it('goes neither to former members nor to an address that a user only entered', async () => {
    const { workspace, runId } = await runIn();
    const [left, renamed] = [await member(), await member()];
    await post(workspace, {}, [left.id, renamed.id]);
    messages = [];
    const { removeMember } = await import('#resources/users/memberships.ts');
    await removeMember({ organization: 'acme', userId: left.id });
    const { enterEmail } = await import('#resources/users/users.ts');
    await enterEmail(renamed.id, 'victim@example.com');
    await notify({ id: 'e1', runId, ...created });
    expect(toOf()).toEqual([renamed.email]);
  });

  it('that SES could not accept is retried, for the missing recipients only', async () => {
    const { workspace, runId } = await runIn();
    const [one, two] = [await member(), await member()];
    await post(workspace, {}, [one.id, two.id]);
    refusal = (address) => (address === two.email ? new AwsError('ServiceUnavailable', 'busy', 503) : undefined);
    await expect(notify({ id: 'e1', runId, ...created })).rejects.toThrow('was not delivered');
    expect(new Set(toOf())).toEqual(new Set([one.email, two.email]));
    refusal = none;
    messages = [];
    await notify({ id: 'e1', runId, ...created });
    await notify({ id: 'e1', runId, ...created });
    expect(toOf()).toEqual([two.email]);
  });

  it('that SES rejects is not retried, and the configuration shows why', async () => {
    const { workspace, runId } = await runIn();
    const { id } = (await post(workspace, {}, [(await member()).id])).body.data;
    refusal = () => new AwsError('MessageRejected', 'Email address is not verified.');
    await notify({ id: 'e1', runId, ...created });
    expect(messages).toHaveLength(1);
    const [response] = await responses(id);
    expect([response.code, response.successful]).toEqual(['', 'false']);
    const status = (await api.call('GET', linkIn(messages[0]), { token: null })).body.data;
    expect(status.attributes['delivery-failures-count']).toBe(1);
    expect(response.body).toContain('MessageRejected: Email address is not verified.');
    const verified = await api.post(`notification-configurations/${id}/actions/verify`, {});
    expect(detailOf(verified)).toEqual([400, expect.stringMatching(/^Sent to 0 of 1 recipients.*MessageRejected/)]);
  });

  it('is not sent beyond the daily limit', async () => {
    const { keys } = await import('#platform/store/keys.ts');
    const { put, remove } = await import('#platform/store/table.ts');
    const { workspace, runId } = await runIn();
    const { id } = (await post(workspace, {}, [(await member()).id])).body.data;
    const key = keys.emailCount('acme', new Date().toISOString().slice(0, 10));
    await put({ ...key, sent: 1000 });
    await notify({ id: 'e1', runId, ...created });
    expect(messages).toEqual([]);
    expect((await responses(id))[0].body).toContain('has reached its limit of 1000 e-mails a day');
    await api.patch(`notification-configurations/${id}`, { 'email-addresses': ['late@outside.test'] });
    expect(messages).toEqual([]);
    await remove(key);
  });
});

describe('an address outside of the organization', () => {
  it('gets one request to confirm a day, and nothing else before its owner confirms', async () => {
    const { workspace, runId } = await runIn();
    const address = `${uniqueName('ops')}@outside.test`;
    const { id } = (await post(workspace, { 'email-addresses': [address] })).body.data;
    await api.patch(`notification-configurations/${id}`, { 'email-addresses': [address] });
    expect([toOf(), messages[0]?.Content.Simple.Subject.Data]).toEqual([[address], 'Confirm notifications of acme']);
    const link = linkIn(messages[0]);
    const { mayAsk } = await import('#resources/notifications/email-recipients.ts');
    expect(await mayAsk('acme', address), 'asked today').toBe(false);
    await notify({ id: 'e1', runId, ...created });
    expect(messages).toHaveLength(1);
    expect((await responses(id))[0].body).toContain(`${address}: not verified`);
    const asked = await open(link);
    expect([asked.status, asked.body]).toEqual([200, expect.stringContaining(address)]);
    await notify({ id: 'e2', runId, kind: 'run', trigger: 'run:created', status: 'planning' });
    expect(messages).toHaveLength(1);
    expect((await press(link, { confirm: 'yes' })).status).toBe(200);
    const { newEmailToken } = await import('#resources/notifications/email-recipients.ts');
    const token = await newEmailToken({ organization: 'acme', email: address, use: 'unsubscribe' });
    const shown = await api.call('GET', `email-recipient-statuses/unsubscribe?token=${token}`, { token: null });
    expect(shown.body.data.attributes['verified-at']).toMatch(/Z$/);
    await notify({ id: 'e3', runId, kind: 'run', trigger: 'run:created', status: 'applying' });
    expect(toOf()).toEqual([address, address]);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 3_600_000 });
    expect(await mayAsk('acme', address), 'verified').toBe(false);
    vi.useRealTimers();
  });

  it('gets a verification e-mail when it is added to a configuration, and again a day later', async () => {
    const { workspace } = await runIn();
    const address = `${uniqueName('added')}@outside.test`;
    const { id } = (await post(workspace, {}, [(await member()).id])).body.data;
    expect(messages).toEqual([]);
    await api.patch(`notification-configurations/${id}`, { 'email-addresses': [address] });
    expect(toOf()).toEqual([address]);
    const { mayAsk } = await import('#resources/notifications/email-recipients.ts');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 3_600_000 });
    await api.patch(`notification-configurations/${id}`, { name: 'renamed' });
    expect(toOf()).toEqual([address]);
    const answers = await Promise.all([mayAsk('acme', address), mayAsk('acme', address)]);
    vi.useRealTimers();
    expect(answers.sort(), 'asked once').toEqual([false, true]);
  });

  it('unsubscribes from a project or from everything with one click', async () => {
    const { workspace, runId } = await runIn();
    const reader = await member();
    await post(workspace, {}, [reader.id]);
    await notify({ id: 'e1', runId, ...created });
    const link = linkIn(messages[0]);
    const page = await open(link);
    for (const choice of ['project', 'all_organization', 'cancel']) expect(page.body).toContain(`value="${choice}"`);
    expect((await api.call('GET', link, { token: null })).body.data).toMatchObject({
      type: 'email-recipient-statuses',
      attributes: { email: reader.email, 'verified-at': null, 'unsubscribed-at': null, 'delivery-failures-count': 0 },
    });
    expect((await press(link, { unsubscribe_preference: 'never' })).status).toBe(400);
    expect((await press(link, { unsubscribe_preference: 'cancel' })).status).toBe(200);
    await notify({ id: 'e2', runId, kind: 'run', trigger: 'run:created', status: 'planning' });
    expect(messages).toHaveLength(2);
    expect((await press(link, { unsubscribe_preference: 'project' })).body).toContain('notifications of this project');
    await notify({ id: 'e3', runId, kind: 'run', trigger: 'run:created', status: 'planned' });
    expect(messages).toHaveLength(2);
    const left = (await api.call('GET', link, { token: null })).body.data;
    expect(left.attributes['unsubscribed-at'], 'from the project only').toBeNull();
    expect((await press(link, { 'List-Unsubscribe': 'One-Click' })).body).toContain('notifications of acme');
    expect((await api.call('GET', link, { token: null })).body.data.attributes['unsubscribed-at']).toMatch(/Z$/);
  });

  it('is not confirmed by another kind of link, an unknown one or an expired one', async () => {
    const { newEmailToken } = await import('#resources/notifications/email-recipients.ts');
    const token = await newEmailToken({ organization: 'acme', email: 'x@y.test', use: 'unsubscribe' });
    for (const secret of [token, 'nonsense', '', 'x'.repeat(5000)]) {
      const { status } = await press('email-recipient-statuses/verify', { token: secret });
      expect([secret.length, status]).toEqual([secret.length, 404]);
    }
    const { keys } = await import('#platform/store/keys.ts');
    const { update } = await import('#platform/store/table.ts');
    const { hashSecret } = await import('#platform/store/id.ts');
    const { countFailure } = await import('#resources/notifications/email-recipients.ts');
    for (let n = 0; n < 2; n++) await countFailure('acme', 'x@y.test');
    const shown = await api.call('GET', `email-recipient-statuses/unsubscribe?token=${token}`, { token: null });
    expect(shown.body.data.attributes['delivery-failures-count']).toBe(2);
    const { body } = await open(`email-recipient-statuses/unsubscribe?token=${token}`);
    expect(body, 'a link without a project').not.toContain('value="project"');
    const yesterday = Math.floor(Date.now() / 1000) - 24 * 3600;
    await update(keys.emailToken(hashSecret(token)), { set: { expiresAt: yesterday } });
    expect((await open(`email-recipient-statuses/unsubscribe?token=${token}`)).status).toBe(404);
  });
});
