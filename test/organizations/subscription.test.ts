import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { memberHelpers } from '../support/members.ts';

/** Plans, and what only whoever operates the platform reads. */

let api: Api;
let members: Awaited<ReturnType<typeof memberHelpers>>;
beforeAll(async () => {
  api = await startApi();
  members = await memberHelpers();
});
afterAll(() => api.close());

describe('a subscription', () => {
  it('is the same by organization and by id, active without an end, and comes along', async () => {
    const { data } = (await api.get('organizations/acme/subscription')).body;
    expect(data).toMatchObject({ type: 'subscriptions', attributes: { 'is-active': true, 'end-at': null } });
    expect((await api.get(`subscriptions/${data.id}`)).body.data).toEqual(data);
    const { body } = await api.get('organizations/acme?include=subscription');
    expect(body.data.relationships.subscription.data).toEqual({ type: 'subscriptions', id: data.id });
    expect(body.included).toEqual([data]);
    const list = (await api.get('organizations?include=subscription')).body;
    expect(list.included.map(({ type }: { type: string }) => type)).toContain('subscriptions');
  });

  it('has a feature set that says what the entitlements say', async () => {
    const entitlements = (await api.get('organizations/acme/entitlement-set')).body.data.attributes;
    for (const path of ['feature-sets', 'organizations/acme/feature-sets']) {
      const { data } = (await api.get(path)).body;
      expect(data).toHaveLength(1);
      for (const name of ['teams', 'sso', 'cost-estimation', 'run-tasks']) {
        expect([name, data[0].attributes[name]]).toEqual([name, entitlements[name]]);
      }
    }
  });

  it('is not there for strangers', async () => {
    const { token } = await members.somebody('stranger');
    for (const path of [
      'organizations/acme/subscription',
      'subscriptions/sub-acme',
      'organizations/acme/feature-sets',
    ]) {
      expect((await api.get(path, { token })).status).toBe(404);
    }
  });
});

describe('admin/organizations', () => {
  it('is for owners of an organization that the operator made, and is not there for others', async () => {
    const read = (name: string, token = api.token) => api.get(`admin/organizations/${name}`, { token });
    const { status, body } = await read('acme');
    expect([status, body.data.attributes.name, body.data.attributes['is-disabled']]).toEqual([200, 'acme', false]);
    expect((await read('nosuch')).status).toBe(404);
    const { createOrganization } = await import('../../functions/organizations/records.ts');
    const { defaultOrganizationSettings } = await import('../../functions/people/organizations/records.ts');
    const founder = await members.somebody('founder');
    await createOrganization('other', { ...defaultOrganizationSettings, email: 'x@y.test' }, founder.id);
    expect((await api.get('organizations/other', { token: founder.token })).status).toBe(200);
    for (const name of ['acme', 'other']) expect((await read(name, founder.token)).status).toBe(404);
    expect((await read('other')).status).toBe(200);
    const { token } = await members.withLevel('acme', 'read');
    expect((await read('acme', token)).status).toBe(404);
    const own = (await api.post('organizations/acme/authentication-token', {})).body.data.attributes.token;
    expect((await read('acme', own)).status).toBe(404);
  });
});
