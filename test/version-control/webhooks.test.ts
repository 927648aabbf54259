import { beforeEach, describe, expect, it } from 'vitest';
import { Followed, type Json, push, sha } from './support/followed.ts';
import { signature } from './support/signature.ts';

/** Webhooks over time: rotated secrets, deletion at the forge, and too many deliveries. */

const followed = await Followed.start();
beforeEach(() => followed.reset());

const record = async (workspace: Json) => {
  const { repositoryId } = await import('#version-control/repositories.ts');
  return repositoryId(workspace.attributes['vcs-repo']['oauth-token-id'], followed.identifier);
};
const set = async (id: string, change: Record<string, unknown>) => {
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  return update(keys.repository(id), { set: change });
};

describe('a rotated secret', () => {
  const rotate = async (client: Json, repository: string) =>
    followed.api.call('POST', `oauth-clients/${client.id}/repositories/${repository}/actions/rotate-secret`);
  const deliveredWith = async (hook: string, secret: string): Promise<number> => {
    followed.secret = secret;
    return (await followed.deliver(hook, 'ping', {})).status;
  };

  it('is accepted at once, and the former one for ten minutes', async () => {
    const { workspace, client, hook } = await followed.connect();
    const id = await record(workspace);
    const before = followed.secret;
    expect((await rotate(client, id)).status).toBe(202);
    const after = followed.secret;
    expect(after).not.toBe(before);
    expect([await deliveredWith(hook, after), await deliveredWith(hook, before)]).toEqual([200, 200]);
    await set(id, { previousUntil: new Date().toISOString() });
    expect([await deliveredWith(hook, after), await deliveredWith(hook, before)]).toEqual([200, 401]);
  });

  it('without a response from the forge is reused at the next attempt, and both are accepted', async () => {
    const { workspace, client, hook } = await followed.connect();
    const id = await record(workspace);
    const before = followed.secret;
    const { forge, identifier } = followed;
    let lost = '';
    forge.on('POST', `/repos/${identifier}/hooks`, ({ body }) => {
      lost = body.config.secret;
      return { status: 502, body: {} };
    });
    expect((await rotate(client, id)).status).toBe(422);
    expect([await deliveredWith(hook, lost), await deliveredWith(hook, before)]).toEqual([200, 200]);
    forge.on('POST', `/repos/${identifier}/hooks`, ({ body }) => {
      expect(body.config.secret).toBe(lost);
      return { status: 201, body: { id: 5 } };
    });
    expect((await rotate(client, id)).status).toBe(202);
  });

  it('requires permission to manage connections, and a repository of the connection', async () => {
    const { client } = await followed.connect();
    expect((await rotate(client, 'repo-none')).status).toBe(404);
    const { client: other, workspace } = await followed.connect();
    expect((await rotate(client, await record(workspace))).status).toBe(404);
    const { body } = await followed.api.get(`oauth-clients/${other.id}/repositories`);
    expect(body.data).toMatchObject([
      { attributes: { identifier: followed.identifier, 'has-webhook': true, 'follower-count': 1 } },
    ]);
    expect(JSON.stringify(body)).not.toContain(followed.secret);
  });
});

it('a webhook that was deleted at the forge is recreated when a user checks for the newest commit', async () => {
  const { workspace, hook } = await followed.connect();
  followed.head = sha(1);
  const made = () => followed.forge.asked('POST', `/repos/${followed.identifier}/hooks`).length;
  expect(made()).toBe(1);
  const path = `workspaces/${workspace.id}/actions/fetch-latest-from-vcs`;
  expect((await followed.api.call('POST', path)).status).toBe(202);
  await followed.settle();
  expect([made(), await followed.commitsOf(workspace)]).toEqual([2, [sha(0), sha(1)]]);
  expect((await followed.deliver(hook, 'ping', {})).status).toBe(200);
});

it('the number of stored deliveries of a repository is limited', async () => {
  const { hook } = await followed.connect();
  const answers = await Promise.all(Array.from({ length: 80 }, () => followed.deliver(hook, 'push', push(0, 1))));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  const told = followed.api.aws.invoked.splice(0).filter(({ name }) => name === 'VersionControlEventFunction');
  expect(told.length).toBe(80 - refused.length);
});

it('a commit whose archive has expired is fetched again', async () => {
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { workspace, token } = await followed.connect();
  const archive = `${await record(workspace)}#${sha(0)}`;
  const stored = { status: 'stored', archive: { key: 'configurations/vcs/none', sha256: 'none' }, size: 1 };
  const statusOfNext = async (): Promise<string> => {
    const next = (await followed.follow(token)).workspace;
    const { body } = await followed.api.get(`workspaces/${next.id}/configuration-versions`);
    return body.data[0].attributes.status;
  };
  await update(keys.commitArchive(archive), { set: { ...stored, since: new Date().toISOString() } });
  expect(await statusOfNext()).toBe('uploaded');
  await update(keys.commitArchive(archive), { set: { ...stored, since: '2026-01-01T00:00:00.000Z' } });
  expect(await statusOfNext()).toBe('fetching');
});

it('a run that is started again counts for the status of its commit', async () => {
  const { workspace } = await followed.connect();
  const [run] = await followed.runsOf(workspace);
  const again = await followed.api.post(
    'runs',
    { message: 'Again' },
    {
      workspace: { data: { type: 'workspaces', id: workspace.id } },
      'configuration-version': { data: { type: 'configuration-versions', id: run.configurationVersionId } },
    },
  );
  expect(again.status).toBe(201);
  const [, second] = await followed.runsOf(workspace);
  expect(second).toMatchObject({ commit: run.commit, ingress: { commitSha: sha(0) } });
  expect(run.commit.sha).toBe(sha(0));
});

it('a signature with the secret of another repository is rejected', async () => {
  const { hook } = await followed.connect();
  const body = '{}';
  const headers = { 'x-hub-signature-256': signature(body, 'other') };
  expect((await followed.deliver(hook, 'push', push(0, 1), headers)).status).toBe(401);
});
