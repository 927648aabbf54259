import { describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

/** Relationships of a workspace, and included resources. */

const api = await startApi();
const help = await runHelpers(api);

const read = async (id: string, include = '', token?: string) =>
  (await api.get(`workspaces/${id}?include=${include}`, { token })).body;
const current = async (id: string) => (await read(id)).data.relationships['current-configuration-version'].data?.id;
const things = (body: { included: { type: string; id: string }[] }) => body.included.map(({ type, id }) => [type, id]);

describe('the current configuration version', () => {
  it('is the newest non-speculative upload, or else the pending one', async () => {
    const { id } = await api.workspace();
    expect(await current(id)).toBeUndefined();
    const announced = (await api.post(`workspaces/${id}/configuration-versions`, { 'auto-queue-runs': false })).body
      .data;
    await api.post(`workspaces/${id}/configuration-versions`, { 'auto-queue-runs': false, speculative: true });
    expect(await current(id)).toBe(announced.id);
    const uploaded = await api.configuration(id);
    expect(await current(id)).toBe(uploaded.id);
    for (const attributes of [{ speculative: true }, { provisional: true }]) {
      await api.configuration(id, { 'auto-queue-runs': false, ...attributes });
      expect(await current(id)).toBe(uploaded.id);
    }
    // The upload of the older version finishes last.
    const { putObject } = await import('#platform/store/bucket.ts');
    await putObject(`uploads/${announced.id}.tar.gz`, new Uint8Array([0x1f, 0x8b, 0, 0]));
    expect((await api.get(`configuration-versions/${announced.id}`)).body.data.attributes.status).toBe('uploaded');
    expect(await current(id)).toBe(uploaded.id);
    expect(things(await read(id, 'current_configuration_version'))).toEqual([['configuration-versions', uploaded.id]]);
  });

  it('is a provisional one after its saved plan was applied', async () => {
    const { adoptConfigurationVersion } = await import('#resources/configurations/records.ts');
    const { id } = await api.workspace();
    const first = await api.configuration(id);
    const provisional = await api.configuration(id, { 'auto-queue-runs': false, provisional: true });
    expect(await current(id)).toBe(first.id);
    for (const _ of [1, 2]) await adoptConfigurationVersion(provisional.id);
    expect(await current(id)).toBe(provisional.id);
    const later = await api.configuration(id);
    await adoptConfigurationVersion(provisional.id);
    expect(await current(id)).toBe(later.id);
  });
});

describe('the readme', () => {
  const markdown = '# Network\n\nSay *hello*.';

  it('is returned on request, from the current configuration', async () => {
    const { id } = await api.workspace({ 'working-directory': 'live' });
    expect((await read(id)).data.relationships).not.toHaveProperty('readme');
    expect(await read(id, 'readme')).toMatchObject({
      data: { relationships: { readme: { data: null } } },
      included: [],
    });
    const archive = await packFiles({ 'live/main.tf': '', 'live/README.md': markdown, 'README.md': 'of all' });
    await api.configuration(id, { 'auto-queue-runs': false }, archive);
    const { data, included } = await read(id, 'readme');
    const { data: identifier } = data.relationships.readme;
    expect(included).toEqual([{ ...identifier, type: 'workspace-readme', attributes: { 'raw-markdown': markdown } }]);
  });
});

describe('included resources', () => {
  it('appear once, with the relationships that lead to them', async () => {
    const { table, keys } = {
      table: await import('#platform/store/table.ts'),
      keys: (await import('#platform/store/keys.ts')).keys,
    };
    const { id, version } = await help.ready();
    const [latest, now] = [await help.create(id), await help.create(id)];
    await api.post(`workspaces/${id}/vars`, { key: 'a', value: 'hidden', category: 'env', sensitive: true });
    await table.update<Workspace>(keys.workspace(id), {
      set: { latestRunId: latest.id, lock: { kind: 'run', runId: now.id, at: '' } },
    });
    const body = await read(
      id,
      'current_run,current_run.apply,current_run.configuration_version,latest_run.plan,current_configuration_version,vars',
    );
    expect(things(body)).toEqual([
      ['runs', now.id],
      ['runs', latest.id],
      ['plans', latest.relationships.plan.data.id],
      ['applies', now.relationships.apply.data.id],
      ['configuration-versions', version],
      ['vars', body.data.relationships.vars.data[0].id],
    ]);
    expect(body.data.relationships).toMatchObject({
      'current-run': { data: { id: now.id } },
      'latest-run': { data: { id: latest.id } },
    });
    expect(JSON.stringify(body)).not.toContain('hidden');
  });

  it('is the same in the list', async () => {
    const { id, version } = await help.ready();
    await api.call('PATCH', `workspaces/${id}/tag-bindings`, {
      body: { data: [{ attributes: { key: 'net', value: 'eu' } }] },
    });
    const include = 'current_configuration_version,effective_tag_bindings,organization,vars';
    const one = await read(id, include);
    const { name } = one.data.attributes;
    const list = (await api.get(`organizations/acme/workspaces?search[name]=${name}&include=${include}`)).body;
    expect(list.data).toEqual([one.data]);
    expect(list.included).toEqual(one.included);
    expect(things(list)).toContainEqual(['configuration-versions', version]);
    expect((await api.get('organizations/acme/workspaces?include=nonsense')).status).toBe(400);
  });

  it('can be requested although none exist', async () => {
    const { id } = await api.workspace();
    expect(
      (await read(id, 'current_assessment_result,current_configuration_version.ingress_attributes')).included,
    ).toEqual([]);
    expect((await api.get(`workspaces/${id}?include=nonsense`)).body.errors[0].detail).toMatch(
      /^Invalid include parameter/,
    );
  });
});

it.each([[{ 'agent-pool-id': 'apool-x' }], [{ 'hyok-enabled': true }]])(
  'a workspace rejects a setting without effect: %j',
  async (attributes) => {
    const { id } = await api.workspace();
    const [name] = Object.keys(attributes);
    const answer = await api.patch(`workspaces/${id}`, attributes);
    expect([answer.status, answer.body.errors[0].source.pointer]).toEqual([422, `/data/attributes/${name}`]);
    const harmless = { 'auto-destroy-at': null, 'agent-pool-id': null, 'hyok-enabled': false };
    expect((await api.patch(`workspaces/${id}`, harmless)).status).toBe(200);
  },
);
