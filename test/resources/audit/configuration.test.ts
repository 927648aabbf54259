import { describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';

const api = await startApi();

const path = 'organizations/acme/audit-configuration';

describe('the audit configuration', () => {
  it('shows an audit trail that is on, and no log streaming', async () => {
    const { status, body } = await api.get(path);
    expect([status, body.data.type]).toEqual([200, 'audit-configurations']);
    const { permissions, 'created-at': createdAt } = (await api.get('organizations/acme')).body.data.attributes;
    expect(body.data).toEqual({
      id: expect.stringMatching(/^aconf-/),
      type: 'audit-configurations',
      attributes: {
        'audit-trails': { enabled: true },
        'hcp-audit-log-streaming': { enabled: false, 'organization-id': null, 'use-default-organization': false },
        permissions: {
          'can-enable-hcp-audit-log-streaming': false,
          'can-set-hcp-audit-log-streaming-organization-id': false,
          'can-use-default-audit-log-streaming-organization': false,
        },
        timestamps: { 'audit-trails-enabled-at': createdAt },
        'updated-at': createdAt,
      },
      relationships: { organization: { data: { id: 'acme', type: 'organizations' } } },
      links: { self: `/api/v2/${path}` },
    });
    expect(permissions['can-manage-auditing']).toBe(true);
  });

  it('accepts its own values, and rejects others by name', async () => {
    const { attributes } = (await api.get(path)).body.data;
    expect((await api.patch(path, attributes)).status).toBe(200);
    for (const [change, detail] of [
      [{ 'audit-trails': { enabled: false } }, 'always on'],
      [{ 'hcp-audit-log-streaming': { enabled: true } }, 'no log streaming'],
      [{ 'hcp-audit-log-streaming': { 'organization-id': 'x' } }, 'no log streaming'],
      [{ 'hcp-audit-log-streaming': { 'use-default-organization': true } }, 'no log streaming'],
    ] as const) {
      const { status, body } = await api.patch(path, change);
      expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining(detail)]);
    }
  });

  it('sends a test event, which the audit trail contains', async () => {
    const { status, body } = await api.call('POST', `${path}/test`);
    expect([status, body['request-id']]).toEqual([200, expect.any(String)]);
    const { data } = (await api.get('organization/audit-trail?filter[resource][type]=test')).body;
    expect(data.at(-1)).toMatchObject({ request: { id: body['request-id'] } });
    expect((await api.post(`${path}/test`, { to: 'syslog' })).status).toBe(422);
  });
});

it('an organization keeps the SAML role of its owners, and names what it cannot turn off', async () => {
  const patch = (attributes: object) => api.patch('organizations/acme', attributes);
  expect((await patch({ 'owners-team-saml-role-id': 'owners' })).body.data.attributes).toMatchObject({
    'owners-team-saml-role-id': 'owners',
  });
  expect((await patch({ 'recoverable-items-enabled': true })).status).toBe(200);
  const { status, body } = await patch({ 'recoverable-items-enabled': false });
  expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining('can always be recovered')]);
});
