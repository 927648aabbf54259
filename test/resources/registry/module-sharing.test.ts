import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { type Api, actingAs, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { ids, runHelpers } from '#test/support/runs.ts';

/** Modules that an organization shares with others: who can read them, and nothing else. */

let api: Api;
let members: Awaited<ReturnType<typeof memberHelpers>>;
let help: Awaited<ReturnType<typeof runHelpers>>;
let stateTokenOf: typeof import('#resources/runs/state-tokens.ts')['stateTokenOf'];
beforeAll(async () => {
  api = await startApi();
  members = await memberHelpers();
  help = await runHelpers(api);
  ({ stateTokenOf } = await import('#resources/runs/state-tokens.ts'));
});
afterAll(() => api.close());

/** An organization of a user without rights on the platform. */
const newOrganization = async (word: string) => {
  const name = uniqueName(word);
  const owner = actingAs(api, (await members.newUser(uniqueName('owner'))).token);
  expect((await owner.post('organizations', { name, email: 'a@b.test' })).status).toBe(201);
  return { name, owner };
};

type Home = Awaited<ReturnType<typeof newOrganization>>;

const publish = async ({ name: organization, owner }: Home) => {
  const name = uniqueName('vpc');
  const made = await owner.post(`organizations/${organization}/registry-modules`, {
    name,
    provider: 'aws',
    'registry-name': 'private',
  });
  const { body } = await owner.post(`registry-modules/${organization}/${name}/aws/versions`, { version: '1.0.0' });
  const content = (await packFiles({ 'main.tf': '' })) as unknown as BodyInit;
  expect((await fetch(body.data.links.upload, { method: 'PUT', body: content })).status).toBe(200);
  const path = (of: string) => `organizations/${of}/registry-modules/private/${organization}/${name}/aws`;
  return { id: made.body.data.id, name, path, protocol: `/api/registry/v1/modules/${organization}/${name}/aws` };
};

type Published = Awaited<ReturnType<typeof publish>>;

const consumersOf = (organization: string) => `admin/organizations/${organization}/relationships/module-consumers`;

const share = (organization: string, to: string[], as: Api = api) =>
  as.call('PATCH', consumersOf(organization), { body: { data: to.map((id) => ({ type: 'organizations', id })) } });

const shareGlobally = (organization: string, value: boolean, as: Api = api) =>
  as.patch(`admin/organizations/${organization}`, { 'global-module-sharing': value });

const readsOf = (module: Published, producer: string, consumer: string) => [
  `${module.protocol}/versions`,
  `${module.protocol}/1.0.0/download`,
  `${module.protocol}/1.0.0`,
  module.path(producer),
  module.path(consumer),
  `${module.path(producer)}/version?module_version=1.0.0`,
  `registry-modules/show/${producer}/${module.name}/aws`,
  `registry-modules/${module.id}`,
];

const statuses = async (paths: string[], token: string) =>
  [...new Set(await Promise.all(paths.map(async (path) => (await api.get(path, { token })).status)))].sort();

const tokenOf = (owner: Api) => owner.token;

describe('modules shared with an organization', () => {
  it('are readable for its members and tokens, until they are no longer shared', async () => {
    const [producer, consumer, other] = [
      await newOrganization('producer'),
      await newOrganization('consumer'),
      await newOrganization('other'),
    ];
    const module = await publish(producer);
    const paths = readsOf(module, producer.name, consumer.name);
    expect(await statuses(paths, tokenOf(consumer.owner))).toEqual([404]);
    expect((await share(producer.name, [consumer.name])).status).toBe(204);
    const member = await members.withFlags(consumer.name);
    const ofOrganization = (await consumer.owner.post(`organizations/${consumer.name}/authentication-token`, {})).body;
    for (const token of [tokenOf(consumer.owner), member.token, ofOrganization.data.attributes.token]) {
      expect(await statuses(paths, token)).toEqual([200, 204]);
    }
    // Members without a team cannot read their own registry either.
    expect(await statuses(paths, (await members.member(consumer.name)).token)).toEqual([404]);
    expect(await statuses(paths, tokenOf(other.owner))).toEqual([404]);
    // The list of consumers replaces the former one.
    expect((await share(producer.name, [other.name])).status).toBe(204);
    expect(await statuses(paths, tokenOf(consumer.owner))).toEqual([404]);
    const asOther = readsOf(module, producer.name, other.name);
    expect(await statuses(asOther, tokenOf(other.owner))).toEqual([200, 204]);
  });

  it('cannot be changed by owners of the consumer', async () => {
    const [producer, consumer] = [await newOrganization('producer'), await newOrganization('consumer')];
    const module = await publish(producer);
    await share(producer.name, [consumer.name]);
    const { owner } = consumer;
    const { body } = await owner.get(module.path(producer.name));
    expect(body.data.attributes.permissions).toEqual({ 'can-delete': false, 'can-resync': false, 'can-retry': false });
    for (const of of [producer.name, consumer.name]) {
      for (const [method, path] of [
        ['PATCH', module.path(of)],
        ['DELETE', module.path(of)],
        ['DELETE', `${module.path(of)}/1.0.0`],
        ['POST', `${module.path(of)}/versions`],
        ['PATCH', `${module.path(of)}/1.0.0`],
        ['POST', `registry-modules/${of}/${module.name}/aws/versions`],
        ['POST', `registry-modules/actions/delete/${of}/${module.name}`],
        ['GET', `organizations/${producer.name}/registry-modules`],
        [
          'GET',
          `organizations/${producer.name}/tests/registry-modules/private/${producer.name}/${module.name}/aws/vars`,
        ],
      ] as const) {
        const { status } = await owner.call(method, path, { body: { data: { attributes: {} } } });
        expect([path, status]).toEqual([path, 404]);
      }
    }
    // A version that waits for its upload does not show the URL.
    await producer.owner.post(`registry-modules/${producer.name}/${module.name}/aws/versions`, { version: '2.0.0' });
    const pending = await owner.get(`${module.path(producer.name)}/version?module_version=2.0.0`);
    expect([pending.status, pending.body.data.links]).toEqual([200, undefined]);
  });

  it('do not open the rest of the registry', async () => {
    const [producer, consumer] = [await newOrganization('producer'), await newOrganization('consumer')];
    await share(producer.name, [consumer.name]);
    const listed = await producer.owner.post(`organizations/${producer.name}/registry-modules`, {
      name: 'consul',
      namespace: 'hashicorp',
      provider: 'aws',
      'registry-name': 'public',
    });
    expect(listed.status).toBe(201);
    expect((await consumer.owner.get(`registry-modules/${listed.body.data.id}`)).status).toBe(404);
    await producer.owner.post(`organizations/${producer.name}/registry-providers`, {
      name: 'cloud',
      namespace: producer.name,
      'registry-name': 'private',
    });
    for (const path of [
      `/api/registry/v1/providers/${producer.name}/cloud/versions`,
      `organizations/${producer.name}/registry-providers/private/${producer.name}/cloud`,
      `organizations/${producer.name}`,
    ]) {
      expect([path, (await consumer.owner.get(path)).status]).toEqual([path, 404]);
    }
  });

  it('are in the lists of the consumer', async () => {
    const [producer, consumer] = [await newOrganization('producer'), await newOrganization('consumer')];
    const [module, own] = [await publish(producer), await publish(consumer)];
    const list = async (query = '') => {
      const { body } = await consumer.owner.get(`organizations/${consumer.name}/registry-modules${query}`);
      return body.data.map(({ id }: { id: string }) => id).sort();
    };
    const producers = async () =>
      (await consumer.owner.get(`organizations/${consumer.name}/relationships/module-producers`)).body.data;
    expect([await list(), await producers()]).toEqual([[own.id], []]);
    const filter = `?filter[organization_name]=${producer.name}`;
    expect(await list(filter)).toEqual([]);
    await share(producer.name, [consumer.name]);
    const named = [{ id: producer.name, type: 'organizations', attributes: { name: producer.name } }];
    expect([await list(), await list(filter), await producers()]).toEqual([
      [module.id, own.id].sort(),
      [module.id],
      named,
    ]);
    // With every organization: by address and by the filter.
    await shareGlobally(producer.name, true);
    expect([await list(), await list(filter), await producers()]).toEqual([[own.id], [module.id], named]);
    await shareGlobally(producer.name, false);
    expect([await list(filter), await producers()]).toEqual([[], []]);
  });

  it('are installed by runs of the consumer only', async () => {
    const [producer, stranger] = [await newOrganization('producer'), await newOrganization('stranger')];
    const module = await publish(producer);
    const workspace = await api.workspace();
    await api.configuration(workspace.id);
    const { id } = await help.create(workspace.id);
    const { claimPhase } = await import('#lifecycle/phases/phases.ts');
    const { hashSecret, newSecret } = await import('#platform/store/id.ts');
    const secret = newSecret();
    await help.bring(id, { status: 'plan_queued', 'plan.claimHash': hashSecret(secret) });
    const claimed = await claimPhase(`${id}.plan.${secret}`, 'nonce');
    const token = stateTokenOf(id, 'plan', claimed?.token ?? '');
    const installs = [`${module.protocol}/versions`, `${module.protocol}/1.0.0/download`];
    expect(await statuses(installs, token)).toEqual([404]);
    await share(producer.name, [stranger.name]);
    expect(await statuses(installs, token)).toEqual([404]);
    await share(producer.name, [stranger.name, 'acme']);
    expect(await statuses(installs, token)).toEqual([200, 204]);
    expect(await statuses([module.path(producer.name)], token)).toEqual([404]);
    await shareGlobally(producer.name, true);
    expect(await statuses(installs, token)).toEqual([200, 204]);
    await shareGlobally(producer.name, false);
    expect(await statuses(installs, token)).toEqual([404]);
  });

  it('end with either organization', async () => {
    const [producer, consumer] = [await newOrganization('producer'), await newOrganization('consumer')];
    const module = await publish(producer);
    await share(producer.name, [consumer.name]);
    const member = await members.withFlags(consumer.name);
    expect((await consumer.owner.call('DELETE', `organizations/${consumer.name}`)).status).toBe(204);
    expect(await statuses([`${module.protocol}/versions`], member.token)).toEqual([404]);
    expect((await api.get(consumersOf(producer.name))).body.data).toEqual([]);
    const next = await newOrganization('next');
    await share(producer.name, [next.name]);
    await producer.owner.call('DELETE', `organizations/${producer.name}`);
    expect(await statuses([`${module.protocol}/versions`], tokenOf(next.owner))).toEqual([404]);
    const { body } = await next.owner.get(`organizations/${next.name}/relationships/module-producers`);
    expect(body.data).toEqual([]);
  });
});

describe('module sharing', () => {
  it('is for operators: neither owners of the producer nor of a consumer can share', async () => {
    const [producer, consumer] = [await newOrganization('producer'), await newOrganization('consumer')];
    for (const { owner } of [producer, consumer]) {
      expect((await share(producer.name, [consumer.name], owner)).status).toBe(404);
      expect((await shareGlobally(producer.name, true, owner)).status).toBe(404);
      expect((await owner.get(consumersOf(producer.name))).status).toBe(404);
      const own = await owner.patch(`organizations/${producer.name}`, { 'global-module-sharing': true });
      expect([404, 422]).toContain(own.status);
    }
    expect((await api.get(`admin/organizations/${producer.name}`)).body.data.attributes).toMatchObject({
      'global-module-sharing': false,
    });
    const trail = await producer.owner.get(`organizations/${producer.name}/audit-events`);
    expect(JSON.stringify(trail.body)).not.toContain('module_consumers');
  });

  it('is in the audit trail of the producer', async () => {
    const [producer, consumer] = [await newOrganization('producer'), await newOrganization('consumer')];
    await share(producer.name, [consumer.name]);
    const events = api.aws.items().filter(({ pk }) => String(pk).startsWith(`AUDIT#${producer.name}#`));
    expect(events.map(({ action }) => action)).toContain('update_module_consumers');
  });

  it('with all organizations excludes a list of consumers, and the other way round', async () => {
    const [producer, consumer] = [await newOrganization('producer'), await newOrganization('consumer')];
    await share(producer.name, [consumer.name]);
    expect(ids((await api.get(consumersOf(producer.name))).body.data)).toEqual([consumer.name]);
    const shared = await shareGlobally(producer.name, true);
    expect(shared.body.data.attributes['global-module-sharing']).toBe(true);
    expect(ids((await api.get(consumersOf(producer.name))).body.data)).toEqual([]);
    await share(producer.name, [consumer.name]);
    const { body } = await api.get(`admin/organizations/${producer.name}`);
    expect(body.data.attributes['global-module-sharing']).toBe(false);
  });

  it('rejects unknown organizations and other settings by name', async () => {
    const producer = await newOrganization('producer');
    for (const name of ['nosuch-organization', '1Hello!', producer.name]) {
      const { status, body } = await share(producer.name, [name]);
      expect([status, body.errors[0].source.pointer]).toEqual([422, '/data/0/id']);
    }
    const admin = `admin/organizations/${producer.name}`;
    for (const change of [{ 'is-disabled': true }, { 'workspace-limit': 5 }, { 'global-provider-sharing': true }]) {
      const { status, body } = await api.patch(admin, change);
      expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining(Object.keys(change)[0] ?? '')]);
    }
    // Terraform's provider sends these with every change.
    const same = { 'access-beta-tools': false, 'workspace-limit': 0, 'global-module-sharing': false };
    expect((await api.patch(admin, same)).status).toBe(200);
  });
});
