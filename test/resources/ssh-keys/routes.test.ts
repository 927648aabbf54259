import { describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';

const api = await startApi();

const keys = 'organizations/acme/ssh-keys';
const value = '-----BEGIN OPENSSH PRIVATE KEY-----\nsecret line of the key\n-----END OPENSSH PRIVATE KEY-----\n';
const make = async (name = uniqueName('key')) => {
  const answer = await api.post(keys, { name, value });
  expect(answer.status).toBe(201);
  return answer.body.data;
};
const assign = (workspace: string, id: string | null) =>
  api.call('PATCH', `workspaces/${workspace}/relationships/ssh-key`, {
    body: { data: { type: 'workspaces', attributes: { id } } },
  });
const keyOf = async (workspace: string) =>
  (await api.get(`workspaces/${workspace}`)).body.data.relationships['ssh-key'].data;

describe('SSH keys of an organization', () => {
  it('are created, read, listed, changed and deleted, and never returned', async () => {
    const sshKey = await make('deploy');
    expect(sshKey).toEqual({
      id: expect.stringMatching(/^sshkey-/),
      type: 'ssh-keys',
      attributes: { name: 'deploy' },
      links: { self: `/api/v2/ssh-keys/${sshKey.id}` },
    });
    expect((await api.get(`ssh-keys/${sshKey.id}`)).body.data).toEqual(sshKey);
    expect((await api.get(`${keys}?page[size]=100`)).body.data).toContainEqual(sshKey);
    const changed = await api.patch(`ssh-keys/${sshKey.id}`, { name: 'deploy-2', value: 'another' });
    expect(changed.body.data.attributes).toEqual({ name: 'deploy-2' });
    const { openSshKey } = await import('#resources/ssh-keys/records.ts');
    expect(await openSshKey(sshKey.id, 'acme')).toBe('another');
    expect(await openSshKey(sshKey.id, 'elsewhere')).toBeUndefined();
    expect((await api.call('DELETE', `ssh-keys/${sshKey.id}`)).status).toBe(204);
    expect((await api.get(`ssh-keys/${sshKey.id}`)).status).toBe(404);
    expect((await api.get(`${keys}?page[size]=100`)).body.data).not.toContainEqual(sshKey);
  });

  it('are sealed in the table', async () => {
    const { id } = await make();
    const { getSshKey } = await import('#resources/ssh-keys/records.ts');
    const { sealedValue, ...rest } = (await getSshKey(id)) ?? { sealedValue: new Uint8Array() };
    expect(JSON.stringify(rest)).not.toContain('secret line');
    expect(sealedValue.length).toBeGreaterThan(value.length);
    expect(Buffer.from(sealedValue).toString('latin1')).not.toContain('secret line');
  });

  it.each<[string, object, string]>([
    ['no name', { value }, 'name'],
    ['no text', { name: 'a' }, 'value'],
    [
      'a key with a passphrase',
      { name: 'a', value: '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n' },
      'value',
    ],
    ['something unknown', { name: 'a', value, kind: 'rsa' }, 'kind'],
  ])('with %s are rejected by name', async (_, attributes, field) => {
    const { status, body } = await api.post(keys, attributes);
    expect([status, body.errors[0].source]).toEqual([422, { pointer: `/data/attributes/${field}` }]);
    expect(JSON.stringify(body)).not.toContain('PRIVATE');
  });
});

describe('the SSH key of a workspace', () => {
  it('is assigned, replaced and removed', async () => {
    const { id: workspace } = await api.workspace();
    const [one, two] = [await make(), await make()];
    expect((await assign(workspace, one.id)).body.data.relationships['ssh-key'].data).toEqual({
      type: 'ssh-keys',
      id: one.id,
    });
    await assign(workspace, two.id);
    expect(await keyOf(workspace)).toEqual({ type: 'ssh-keys', id: two.id });
    // Deleting the former key does not remove the new one.
    await api.call('DELETE', `ssh-keys/${one.id}`);
    expect(await keyOf(workspace)).toEqual({ type: 'ssh-keys', id: two.id });
    expect((await assign(workspace, null)).body.data.relationships['ssh-key'].data).toBeNull();
    const described = { data: { type: 'ssh-keys', id: two.id } };
    await api.call('PATCH', `workspaces/${workspace}/relationships/ssh-key`, { body: described });
    expect(await keyOf(workspace)).toEqual({ type: 'ssh-keys', id: two.id });
  });

  it('is removed when the key is deleted', async () => {
    const { id: workspace } = await api.workspace();
    const { id } = await make();
    await assign(workspace, id);
    await api.call('DELETE', `ssh-keys/${id}`);
    expect(await keyOf(workspace)).toBeNull();
  });

  it('is rejected when it is not in the organization, and stays unchanged', async () => {
    const { id: workspace } = await api.workspace();
    const { id } = await make();
    await assign(workspace, id);
    await api.post('organizations', { name: 'keys-elsewhere', email: 'a@b.test' });
    const foreign = (await api.post('organizations/keys-elsewhere/ssh-keys', { name: 'k', value })).body.data.id;
    for (const wrong of [foreign, 'sshkey-unknown']) {
      const { status, body } = await assign(workspace, wrong);
      expect([status, body.errors[0].detail]).toEqual([404, `SSH key ${wrong} not found in acme.`]);
    }
    expect(await keyOf(workspace)).toEqual({ type: 'ssh-keys', id });
  });
});
