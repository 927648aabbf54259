import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { withTeamNames } from '#clients/cli/people.ts';
import { Client } from '#clients/client/client.ts';

/** Who did something, in the command line's words. */

const server = createServer((request, response) => {
  const isKnown = request.url?.endsWith('/teams/team-1');
  response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/vnd.api+json', 'tfp-api-version': '2.6' });
  response.end(
    JSON.stringify(isKnown ? { data: { id: 'team-1', type: 'teams', attributes: { name: 'platform' } } } : {}),
  );
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
afterAll(() => server.close());
const client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'token');

it('accounts of team tokens have the name of their team, and people keep theirs', async () => {
  const user = (username: string, isService: boolean) => ({
    id: username,
    type: 'users',
    attributes: { username, 'is-service-account': isService },
  });
  const run = { id: 'run-1', type: 'runs', attributes: {} };
  const resources = [user('api-team-1', true), user('api-team-gone', true), user('api-team-1', false), run];
  const named = await withTeamNames(client, resources);
  expect(named.map(({ attributes }) => attributes.username)).toEqual([
    'team platform',
    'api-team-gone',
    'api-team-1',
    undefined,
  ]);
});
