import type { Context } from 'aws-lambda';
import { beforeAll, expect, it } from 'vitest';
import { eventOf } from '#test/support/api.ts';
import { type Environments, startEnvironments } from './support.ts';

/** The environments' API on the web page's own origin. */

let world: Environments;
beforeAll(async () => {
  world = await startEnvironments();
});

const onPage = async (path: string, change: object, token?: string) => {
  const { handler } = await import('#environments/handler.ts');
  const event = eventOf('GET', `/environments/api/v2${path}`, token === undefined ? { token: '' } : { token });
  const answer = (await handler({ ...event, ...change }, {} as Context)) as { statusCode: number; body?: string };
  return { status: answer.statusCode, body: JSON.parse(answer.body ?? '{}') };
};

it('the API responds as on its own host', async () => {
  const { status, body } = await onPage('/users/me', {}, world.api.token);
  expect(status).toBe(200);
  expect(body.username).toBe((await world.call('GET', '/users/me')).body.username);
});

it('the API accepts tokens only in the Authorization header', async () => {
  const { token } = world.api;
  const bare = eventOf('GET', '/environments/api/v2/users/me', { token: '' });
  const { authorization: _, ...headers } = bare.headers;
  expect((await onPage('/users/me', { headers, cookies: [`coder_session_token=${token}`] })).status).toBe(401);
  expect((await onPage('/users/me', { headers, rawQueryString: `coder_session_token=${token}` })).status).toBe(401);
  expect((await onPage('/users/me', { headers: { ...headers, 'coder-session-token': token } })).status).toBe(401);
});

it("the API reports the caller's rights to create environments and change templates", async () => {
  const checks = {
    create: {
      object: { resource_type: 'workspace', organization_id: 'acme', owner_id: 'me' },
      action: 'create',
    },
    manage: { object: { resource_type: 'template', organization_id: 'acme' }, action: 'update' },
  };
  const asked = (token: string) => world.call('POST', '/authcheck', { body: { checks }, token });
  expect((await asked(world.api.token)).body).toEqual({ create: true, manage: true });
  const member = await world.members.acting('acme', 'member');
  expect((await asked(member.token)).body).toEqual({ create: false, manage: false });
  const stranger = await world.members.newUser('stranger-of-templates');
  expect((await asked(stranger.token)).body).toEqual({ create: false, manage: false });
  const one = { read: { object: { resource_type: 'workspace', resource_id: 'x' }, action: 'read' } };
  expect((await world.call('POST', '/authcheck', { body: { checks: one } })).body.message).toContain('resource_id');
});
