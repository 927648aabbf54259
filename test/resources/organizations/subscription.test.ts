import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

/** Plans, and the routes for operators only. */

const api = await startApi();
const members = await memberHelpers();

describe('a subscription', () => {
  it('is the same by organization and by id, active without an end, and included on request', async () => {
    const { data } = (await api.get('organizations/acme/subscription')).body;
    expect(data).toMatchObject({ type: 'subscriptions', attributes: { 'is-active': true, 'end-at': null } });
    expect((await api.get(`subscriptions/${data.id}`)).body.data).toEqual(data);
    const { body } = await api.get('organizations/acme?include=subscription');
    expect(body.data.relationships.subscription.data).toEqual({ type: 'subscriptions', id: data.id });
    expect(body.included).toEqual([data]);
    const list = (await api.get('organizations?include=subscription')).body;
    expect(list.included.map(({ type }: { type: string }) => type)).toContain('subscriptions');
  });

  it('has a feature set that matches the entitlements', async () => {
    const entitlements = (await api.get('organizations/acme/entitlement-set')).body.data.attributes;
    for (const path of ['feature-sets', 'organizations/acme/feature-sets']) {
      const { data } = (await api.get(path)).body;
      expect(data).toHaveLength(1);
      for (const name of ['teams', 'sso', 'cost-estimation', 'run-tasks']) {
        expect([name, data[0].attributes[name]]).toEqual([name, entitlements[name]]);
      }
    }
  });

  it('is 404 for strangers', async () => {
    const { token } = await members.newUser('stranger');
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
  it('is for owners of an organization created by the operator, and 404 for others', async () => {
    const read = (name: string, token = api.token) => api.get(`admin/organizations/${name}`, { token });
    const { status, body } = await read('acme');
    expect([status, body.data.attributes.name, body.data.attributes['is-disabled']]).toEqual([200, 'acme', false]);
    expect((await read('nosuch')).status).toBe(404);
    const { createOrganization } = await import('#resources/organizations/create.ts');
    const { defaultOrganizationSettings } = await import('#resources/organizations/records.ts');
    const founder = await members.newUser('founder');
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

describe('admin/terraform-versions', () => {
  /** The response of releases.hashicorp.com; undefined: no response. */
  let index: object | undefined;
  const server = createServer((_, response) => {
    response.statusCode = index ? 200 : 404;
    response.end(JSON.stringify(index ?? {}));
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    process.env.STEPFORM_TERRAFORM_RELEASES = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    delete process.env.STEPFORM_TERRAFORM_RELEASES;
    server.close();
  });
  const versionsIn = (body: { data: { attributes: { version: string } }[] }) =>
    body.data.map(({ attributes }) => attributes.version);

  it("are the runners' own with a message when the releases cannot be read", async () => {
    process.env.RUNNER_TERRAFORM_VERSION = '1.11.4';
    const { status, body } = await api.get('admin/terraform-versions');
    delete process.env.RUNNER_TERRAFORM_VERSION;
    expect([status, body.data.length]).toEqual([200, 1]);
    expect(body.meta['releases-problem']).toContain('HTTP 404');
  });

  it('are the released ones, newest first, found by version and read by id', async () => {
    const build = { os: 'linux', arch: 'amd64', url: 'https://releases.test/terraform_0.99.10_linux_amd64.zip' };
    index = {
      versions: {
        '0.99.9': { version: '0.99.9', builds: [] },
        '0.99.10': { version: '0.99.10', builds: [build, { ...build, os: 'windows' }] },
        '0.99.11-rc1': { version: '0.99.11-rc1', builds: [] },
      },
    };
    const { body } = await api.get('admin/terraform-versions?search[version]=0.99.');
    expect(versionsIn(body)).toEqual(['0.99.11-rc1', '0.99.10', '0.99.9']);
    expect(body.data.map((one: { attributes: object }) => one.attributes)).toMatchObject([
      { beta: true },
      { beta: false, enabled: true, url: build.url, archs: [{ os: 'linux', arch: 'amd64', url: build.url }] },
      { beta: false },
    ]);
    const exact = (await api.get('admin/terraform-versions?filter[version]=0.99.9')).body;
    expect([versionsIn(exact), exact.meta.pagination['total-count']]).toEqual([['0.99.9'], 1]);
    expect((await api.get(`admin/terraform-versions/${exact.data[0].id}`)).body.data).toEqual(exact.data[0]);
    expect((await api.get('admin/terraform-versions/tool-0.98.0')).status).toBe(404);
    const page = (await api.get('admin/terraform-versions?search[version]=0.99.&page[size]=1&page[number]=2')).body;
    expect([versionsIn(page), page.meta.pagination['total-pages']]).toEqual([['0.99.10'], 3]);
  });

  it('are readable for the operator only, and cannot be changed', async () => {
    const { token } = await members.withLevel('acme', 'read');
    for (const path of ['admin/terraform-versions', 'admin/terraform-versions/tool-0.99.9'])
      expect((await api.get(path, { token })).status).toBe(404);
    const { status, body } = await api.post('admin/terraform-versions', { version: '9.9.9' });
    expect([status, body.errors[0].detail]).toEqual([
      404,
      expect.stringContaining('changing the list of Terraform versions'),
    ]);
  });
});
