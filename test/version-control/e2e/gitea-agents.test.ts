import { afterAll, beforeAll, expect, it } from 'vitest';
import { related } from '../../../functions/client/client.ts';
import { startAgent, stopAgents } from '../../e2e/support/agents.ts';
import { client, newName, organization, resources, untilFinal } from '../../e2e/support/world.ts';
import { giteaBinary } from '../gitea/binary.ts';
import { FollowingGitea } from '../gitea/following.ts';

/** A real Gitea behind an agent: what the platform asks of it goes through the agent program. */

const binary = giteaBinary();
let following: FollowingGitea;
beforeAll(async () => {
  if (binary) following = await FollowingGitea.start();
});
afterAll(async () => {
  stopAgents();
  await following?.gitea.stop();
});

it.skipIf(!binary)(
  'a push to version control that only an agent reaches is planned, applied and gets its status',
  async () => {
    const { gitea } = following;
    const name = newName('forward');
    const pool = await client.create(`/organizations/${organization}/agent-pools`, 'agent-pools', { name });
    const tokens = `/agent-pools/${pool.id}/authentication-tokens`;
    const token = await client.create(tokens, 'authentication-tokens', { description: 'e2e' });
    const { output } = startAgent(name, token.attributes.token, ['--forward-to', gitea.url]);
    await expect.poll(() => output.text, { timeout: 60_000 }).toContain('forwards requests to');
    const attributes = {
      name,
      'service-provider': 'gitea',
      'http-url': gitea.url,
      'api-url': `${gitea.url}/api/v1`,
      'oauth-token-string': gitea.owner.token,
    };
    const connection = await client.create(
      `/organizations/${organization}/oauth-clients`,
      'oauth-clients',
      attributes,
      {
        'agent-pool': { data: { type: 'agent-pools', id: pool.id } },
      },
    );
    const identifier = await gitea.repository(newName('private'), { 'main.tf': resources(['a']) });
    const workspace = await client.createWorkspace(organization, newName(), {
      'queue-all-runs': true,
      'auto-apply': true,
      'vcs-repo': { identifier, 'oauth-token-id': related(connection, 'oauth-tokens') ?? '' },
    });
    await expect.poll(async () => (await following.runsOf(workspace)).length, { timeout: 120_000 }).toBe(1);
    const sha = await gitea.push(identifier, { 'main.tf': resources(['a', 'b']) }, 'Through an agent');
    const run = await following.runOf(workspace, sha);
    expect((await untilFinal(run)).attributes.status).toBe('applied');
    await expect
      .poll(async () => (await gitea.statuses(identifier, sha)).map(({ state }) => state), { timeout: 120_000 })
      .toContain('success');
    for (const what of [`/archive/${sha}.tar.gz: 200`, `/statuses/${sha}: 201`, '/hooks: 201']) {
      expect(output.text).toContain(what);
    }
    expect(output.text).not.toContain(gitea.owner.token);
  },
);
