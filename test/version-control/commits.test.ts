import { beforeEach, describe, expect, it } from 'vitest';
import { type Answered, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { Followed, type Json, push, sha } from './support/followed.ts';

/** Runs started by a commit, and the link of its status to them. */

const followed = await Followed.start();
beforeEach(() => followed.reset());

const runsAt = (n: number, query = '', sent = {}): Promise<Answered> =>
  followed.api.get(`organizations/acme/commits/${sha(n)}/runs?identifier=${followed.identifier}${query}`, sent);
const namesIn = ({ body }: Answered): string[] =>
  body.data.map(({ relationships }: Json) => relationships.workspace.data.id);

/** A push to a branch that two workspaces follow. */
const pushed = async () => {
  const first = await followed.connect();
  const { workspace: second } = await followed.follow(first.token);
  await followed.deliver(first.hook, 'push', push(0, 1));
  await followed.settle();
  const runs = await Promise.all([first.workspace, second].map(async (one) => (await followed.runsOf(one)).at(-1)));
  const { handler } = await import('#version-control/commit-status.ts');
  for (const { id } of runs) await handler({ runId: id });
  return { workspaces: [first.workspace, second], runs, token: first.token };
};

const change = async (run: Json, set: Record<string, unknown>): Promise<void> => {
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  await update(keys.run(run.id), { set });
};

it('a commit shows the newest run of each workspace, failed ones first, with totals', async () => {
  const { workspaces, runs } = await pushed();
  await change(runs[1], { status: 'errored' });
  const answer = await runsAt(1, '&include=workspace,plan,configuration_version.ingress_attributes');
  expect([answer.status, namesIn(answer)]).toEqual([200, [workspaces[1].id, workspaces[0].id]]);
  expect(answer.body.meta).toMatchObject({
    commit: {
      identifier: followed.identifier,
      'commit-sha': sha(1),
      state: 'failure',
      description: '2 workspaces: 1 failed, 1 running',
    },
    'policy-sets': [],
    pagination: { 'total-count': 2 },
  });
  const types = answer.body.included.map(({ type }: Json) => type);
  expect(new Set(types)).toEqual(new Set(['workspaces', 'plans', 'ingress-attributes']));
  expect(namesIn(await runsAt(1, '&page[size]=1&page[number]=2'))).toEqual([workspaces[0].id]);
});

it('a commit page is the target of a status with several workspaces', async () => {
  await pushed();
  const { placeOf } = await import('#clients/client/page-addresses.ts');
  const posted = followed.forge.asked('POST', new RegExp(`/statuses/${sha(1)}$`)).at(-1)?.body;
  expect(posted.description).toBe('2 workspaces: 2 running');
  expect(placeOf(new URL(posted.target_url).pathname)).toEqual({
    view: 'commit',
    organization: 'acme',
    identifier: followed.identifier,
    sha: sha(1),
  });
});

it('a commit shows the policy sets with a version of it', async () => {
  const { client, token } = await followed.connection();
  await followed.has({ 'policies.hcl': 'policy "p" { query = "data.p.deny" }', 'p.rego': 'package p' });
  const set = await followed.api.post('organizations/acme/policy-sets', {
    name: uniqueName('set'),
    kind: 'opa',
    'vcs-repo': { identifier: followed.identifier, 'oauth-token-id': token },
  });
  expect([client.type, set.status]).toEqual(['oauth-clients', 201]);
  await followed.settleAndFetch();
  const { meta, data } = (await runsAt(0)).body;
  expect(data).toEqual([]);
  expect(meta['policy-sets']).toEqual([
    { id: set.body.data.id, state: expect.any(String), description: expect.any(String) },
  ]);
});

describe('the list is empty', () => {
  it('for a commit without runs', async () => {
    await pushed();
    const { status, body } = await runsAt(2);
    expect([status, body.data, body.meta.commit]).toEqual([
      200,
      [],
      { identifier: followed.identifier, 'commit-sha': sha(2) },
    ]);
  });

  it('for workspaces that the user cannot see', async () => {
    await pushed();
    const { member } = await memberHelpers();
    const { token } = await member('acme');
    const { status, body } = await runsAt(1, '', { token });
    expect([status, body.data, body.meta.commit.state, body.meta['policy-sets']]).toEqual([200, [], undefined, []]);
    expect((await runsAt(1, '', { token: 'none' })).status).toBe(401);
  });

  it.each([
    ['half an id', 'abc', 'acme/infra', 'whole id'],
    ['no repository', 'a'.repeat(40), '../etc', 'owner/name'],
  ])('for %s', async (_, commit, identifier, words) => {
    const { status, body } = await followed.api.get(
      `organizations/acme/commits/${commit}/runs?identifier=${identifier}`,
    );
    expect([status, body.errors[0].detail]).toEqual([400, expect.stringContaining(words)]);
  });
});
