import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Environments, startEnvironments } from './support.ts';

/** For commands of `coder` without a route here, the error names the replacement. */

let world: Environments;
beforeAll(async () => {
  world = await startEnvironments();
});
afterAll(() => world.api.close());

it.each([
  ['coder users create', 'POST', '/users', /Invite them to the organization/],
  ['coder users suspend', 'PUT', '/users/me/status/suspend', /User accounts are not changed here/],
  ['coder users delete', 'DELETE', '/users/me', /User accounts are not changed here/],
  ['coder organizations members list', 'GET', '/organizations/acme/members', /Members of an organization/],
  ['coder organizations create', 'POST', '/organizations', /Organizations and groups are not changed here/],
  ['coder groups create', 'POST', '/organizations/acme/groups', /Groups are the teams/],
  ['coder provisioner list', 'GET', '/organizations/acme/provisionerdaemons', /no provisioner daemons/],
  ['coder publickey', 'GET', '/users/me/gitsshkey', /no Git SSH keys/],
  ['coder notifications pause', 'PUT', '/notifications/settings', /Coder’s notifications are not provided/],
  ['coder netcheck', 'GET', '/debug/health', /connections to them, are not provided/],
  ['coder licenses list', 'GET', '/licenses', /^\/api\/v2\/licenses is not provided by this platform\.$/],
  ['no command', 'GET', '/nonsense', /^Route not found\.$/],
])('the error explains that a route is not served: %s', async (_, method, path, message) => {
  const answer = await world.call(method, path);
  expect(answer.status).toBe(404);
  expect((answer.body as { message: string }).message).toMatch(message);
});
