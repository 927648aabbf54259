import { describe, expect, it } from 'vitest';
import type { Sent } from '#test/support/api.ts';
import { startEnvironments } from './support.ts';

/** Environments of an organization with an IP allowlist, through Coder's API. */

const world = await startEnvironments();
const { token } = await world.members.withLevel('acme', 'admin');
const office = { name: 'office', 'enforcement-scope': 'organization' };
const list = (await world.api.post('organizations/acme/cidr-range-lists', office)).body.data.id;
await world.api.post(`cidr-range-lists/${list}/relationships/cidr-ranges`, { range: '192.0.2.0/24' });

const outside = '198.51.100.9';

describe('from an address outside of the allowlist', () => {
  it('environments and templates are refused by name, wherever the token is sent', async () => {
    const template = await world.addTemplate();
    const id = await world.running(template);
    for (const path of ['/templates', '/workspaces', `/workspaces/${id}`, `/templates/${template.id}`]) {
      const inside = await world.call('GET', path, { token });
      expect([path, inside.status]).toEqual([path, 200]);
      const ways: Sent[] = [
        { token },
        { token: null, headers: { 'coder-session-token': token } },
        { token, headers: { 'x-forwarded-for': '192.0.2.1' } },
      ];
      for (const sent of ways) {
        const refused = await world.call('GET', path, { ...sent, address: outside });
        expect([path, refused.status, refused.body.detail]).toEqual([path, 403, expect.stringContaining(outside)]);
      }
    }
    const stopped = await world.call('POST', `/workspaces/${id}/builds`, {
      token,
      address: outside,
      body: { transition: 'stop' },
    });
    expect(stopped.status).toBe(403);
    expect((await world.call('GET', `/workspaces/${id}`, { address: outside })).status).toBe(200);
  });

  it('the organization is not listed, and users can manage their own tokens', async () => {
    const organizations = async (address: string) =>
      (await world.call('GET', '/users/me/organizations', { token, address })).body;
    expect(await organizations('192.0.2.1')).toHaveLength(1);
    expect(await organizations(outside)).toMatchObject({ message: 'forbidden' });
    // The request of `coder login`: the error names the reason.
    const me = await world.call('GET', '/users/me', { token, address: outside });
    expect([me.status, me.body.detail]).toEqual([403, expect.stringContaining(outside)]);
    expect((await world.call('GET', '/users/me/keys/tokens', { token, address: outside })).status).toBe(200);
  });
});
