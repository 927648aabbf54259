import { beforeAll, describe, expect, it } from 'vitest';
import { keys } from '#platform/store/keys.ts';
import { actingAs, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { resource, stateFile } from '#test/support/state.ts';

const api = await startApi();
const table = await import('#platform/store/table.ts');

interface Named {
  id: string;
  attributes: { name: string };
}
const names = (data: Named[]) => data.map(({ attributes }) => attributes.name);

describe('a workspace', () => {
  it.each([
    ['trigger-patterns', ['/a/**'], 'trigger-prefixes'],
    ['trigger-prefixes', ['/a'], 'trigger-patterns'],
  ])('%s %j are cleared by an empty list of %s, also without file triggers', async (kind, paths, other) => {
    const { id } = await api.workspace({ [kind]: paths });
    const { status, body } = await api.patch(`workspaces/${id}`, { 'file-triggers-enabled': false, [other]: [] });
    expect([status, body.data.attributes[kind], body.data.attributes[other]]).toEqual([200, [], []]);
  });

  it('has the defaults that the Terraform CLI relies on', async () => {
    const workspace = await api.workspace();
    expect(workspace).toMatchObject({
      type: 'workspaces',
      attributes: {
        'terraform-version': 'latest',
        'execution-mode': 'remote',
        operations: true,
        'structured-run-output-enabled': true,
        'auto-apply': false,
        'working-directory': null,
        'vcs-repo': null,
        'tag-names': [],
        locked: false,
        permissions: { 'can-queue-run': true, 'can-update': true, 'can-force-delete': true },
      },
      relationships: {
        organization: { data: { type: 'organizations', id: 'acme' } },
        'current-run': { data: null },
        'locked-by': { data: null },
      },
    });
    expect((await api.get(`workspaces/${workspace.id}`)).body.data).toEqual(workspace);
    expect((await api.get(`organizations/acme/workspaces/${workspace.attributes.name}`)).body.data).toEqual(workspace);
  });

  it('changes given attributes, clears null ones and returns the whole document', async () => {
    const workspace = await api.workspace({ description: 'old', 'auto-apply': true });
    const changed = await api.patch(`workspaces/${workspace.id}`, { 'terraform-version': '1.11.4', description: null });
    expect(changed.body.data.attributes).toMatchObject({
      'terraform-version': '1.11.4',
      description: null,
      'auto-apply': true,
    });
    expect(Object.keys(changed.body.data.attributes).sort()).toEqual(Object.keys(workspace.attributes).sort());
    const byName = await api.patch(`organizations/acme/workspaces/${workspace.attributes.name}`, {
      'working-directory': './environments/prod/',
      operations: false,
    });
    expect(byName.body.data.attributes).toMatchObject({
      'working-directory': './environments/prod/',
      'execution-mode': 'local',
      operations: false,
    });
  });

  it.each(['1.11.4', '~> 1.11.0', '>= 1.2, < 2.0', '1.12.0-beta1', 'latest'])(
    'accepts the Terraform version %j',
    async (version) => {
      const workspace = await api.workspace({ 'terraform-version': version });
      expect(workspace.attributes['terraform-version']).toBe(version);
    },
  );

  it('has a unique name, also after a rename', async () => {
    const [one, two] = [await api.workspace(), await api.workspace()];
    const again = await api.post('organizations/acme/workspaces', { name: one.attributes.name });
    expect(again).toMatchObject({ status: 422 });
    expect(again.body.errors[0].detail).toBe('Name has already been taken');
    expect((await api.patch(`workspaces/${one.id}`, { name: two.attributes.name })).status).toBe(422);
    const name = uniqueName('renamed');
    expect((await api.patch(`workspaces/${one.id}`, { name })).body.data.attributes.name).toBe(name);
    expect((await api.get(`organizations/acme/workspaces/${one.attributes.name}`)).status).toBe(404);
  });

  it('belongs to a project of its organization', async () => {
    const project = { data: { type: 'projects', id: 'prj-unknown' } };
    const answer = await api.post('organizations/acme/workspaces', { name: uniqueName('ws') }, { project });
    expect(answer.status).toBe(422);
    expect(answer.body.errors[0].source.pointer).toBe('/data/relationships/project');
  });

  it('rejects a repository without a connection by name', async () => {
    const answer = await api.post('organizations/acme/workspaces', {
      name: uniqueName('ws'),
      'vcs-repo': { identifier: 'a/b' },
    });
    expect([answer.status, answer.body.errors[0].detail]).toEqual([
      422,
      'oauth-token-id: is missing; send it, or github-app-installation-id',
    ]);
    expect((await api.post('organizations/acme/workspaces', { name: uniqueName('ws'), 'vcs-repo': null })).status).toBe(
      201,
    );
  });

  it('has a source URL that can become a link, never a script', async () => {
    const make = (url: string | null) =>
      api.post('organizations/acme/workspaces', { name: uniqueName('ws'), 'source-name': 'portal', 'source-url': url });
    const { id, attributes } = (await make('https://portal.example.test/42')).body.data;
    expect(attributes['source-url']).toBe('https://portal.example.test/42');
    for (const url of [
      'javascript:alert(1)',
      ' JavaScript:alert(1)',
      'java\nscript:alert(1)',
      'data:text/html,x',
      'x',
    ]) {
      for (const { status, body } of [await make(url), await api.patch(`workspaces/${id}`, { 'source-url': url })]) {
        expect([status, body.errors[0].source.pointer]).toEqual([422, '/data/attributes/source-url']);
      }
    }
    expect((await make(null)).status).toBe(201);
  });

  it('includes organization, project and current run on request', async () => {
    const subject = await api.workspace();
    await api.configuration(subject.id);
    const workspace = { data: { type: 'workspaces', id: subject.id } };
    const run = (await api.post('runs', {}, { workspace })).body.data;
    await table.update(keys.workspace(subject.id), { set: { lock: { kind: 'run', runId: run.id, at: '' } } });
    const { body } = await api.get(
      `workspaces/${subject.id}?include=organization,project,current_run,current_run.plan`,
    );
    expect(body.included.map(({ type }: { type: string }) => type)).toEqual([
      'organizations',
      'projects',
      'runs',
      'plans',
    ]);
    expect(body.data.relationships).toMatchObject({
      'current-run': { data: { id: run.id } },
      'locked-by': { data: { type: 'runs', id: run.id } },
    });
    expect(body.data.attributes.locked).toBe(true);
  });
});

describe('deleting a workspace', () => {
  it('works by id and by name', async () => {
    const [one, two] = [await api.workspace(), await api.workspace()];
    expect((await api.call('DELETE', `workspaces/${one.id}`)).status).toBe(204);
    expect((await api.call('DELETE', `organizations/acme/workspaces/${two.attributes.name}`)).status).toBe(204);
    expect((await api.get(`workspaces/${one.id}`)).status).toBe(404);
    expect((await api.get(`organizations/acme/workspaces/${two.attributes.name}`)).status).toBe(404);
    expect((await api.call('DELETE', `workspaces/${one.id}`)).status).toBe(404);
  });

  it('safely is rejected while a run is unfinished', async () => {
    const { id } = await api.workspace();
    await api.configuration(id);
    await api.post('runs', {}, { workspace: { data: { type: 'workspaces', id } } });
    const answer = await api.call('POST', `workspaces/${id}/actions/safe-delete`);
    expect(answer.status).toBe(409);
    expect(answer.body.errors[0].detail).toMatch(/runs that have not ended/);
    expect((await api.get(`workspaces/${id}`)).status).toBe(200);
  });

  it('by force, works with unfinished runs too, and frees the name', async () => {
    const { id, attributes } = await api.workspace();
    await api.configuration(id);
    const run = await api.post('runs', {}, { workspace: { data: { type: 'workspaces', id } } });
    expect((await api.call('DELETE', `workspaces/${id}`)).status).toBe(204);
    expect((await api.get(`workspaces/${id}`)).status).toBe(404);
    expect((await api.get(`runs/${run.body.data.id}`)).status).toBe(404);
    const again = await api.post('organizations/acme/workspaces', { name: attributes.name });
    expect(again.status).toBe(201);
    expect(again.body.data.id).not.toBe(id);
  });

  it('safely is rejected while it is locked or manages resources', async () => {
    const { id, attributes } = await api.workspace();
    const safely = () => api.call('POST', `organizations/acme/workspaces/${attributes.name}/actions/safe-delete`);
    await api.call('POST', `workspaces/${id}/actions/lock`);
    expect((await safely()).body.errors[0].detail).toMatch(/is locked/);
    const { text, ...state } = stateFile({ resources: [resource('null_resource', 'a', 2)] });
    await api.post(`workspaces/${id}/state-versions`, { ...state, state: Buffer.from(text).toString('base64') });
    await api.call('POST', `workspaces/${id}/actions/unlock`);
    const refused = await safely();
    expect(refused.status).toBe(409);
    expect(refused.body.errors[0].detail).toMatch(/still manages 2 resources/);
    expect((await api.call('DELETE', `workspaces/${id}`)).status).toBe(204);
  });

  it('safely works without resources', async () => {
    const { id } = await api.workspace();
    expect((await api.call('POST', `workspaces/${id}/actions/safe-delete`)).status).toBe(204);
  });
});

describe('the list of workspaces', () => {
  const organization = 'listing';
  const all = ['app-dev', 'app-prod', 'net-dev', 'net-prod', 'zone'];
  beforeAll(async () => {
    await api.post('organizations', { name: organization, email: 'a@b.test' });
    const project = (await api.post(`organizations/${organization}/projects`, { name: 'Net' })).body.data;
    for (const name of [...all].reverse()) {
      const bindings = [{ attributes: { key: name.split('-')[1] ?? 'none', value: name.split('-')[0] } }];
      await api.post(
        `organizations/${organization}/workspaces`,
        { name },
        {
          'tag-bindings': { data: bindings },
          ...(name.startsWith('net') ? { project: { data: { type: 'projects', id: project.id } } } : {}),
        },
      );
    }
  });
  const list = async (query = '') => (await api.get(`organizations/${organization}/workspaces?${query}`)).body;
  const search = async (query: string) => names((await list(query)).data);

  it('is sorted by name, descending on request', async () => {
    expect(await search('')).toEqual(all);
    expect(await search('sort=-name')).toEqual([...all].reverse());
    expect(await search('sort=latest-change-at')).toEqual([...all].reverse());
    expect((await api.get(`organizations/${organization}/workspaces?sort=color`)).status).toBe(400);
  });

  it('has pages with totals, and an empty page past the end', async () => {
    const { data, meta, links } = await list('page[number]=2&page[size]=2');
    expect(names(data)).toEqual(['net-dev', 'net-prod']);
    expect(meta.pagination).toEqual({
      'current-page': 2,
      'page-size': 2,
      'prev-page': 1,
      'next-page': 3,
      'total-pages': 3,
      'total-count': 5,
    });
    expect(new URLSearchParams(links.next.split('?')[1]).get('page[number]')).toBe('3');
    const past = await list('page%5Bnumber%5D=999');
    expect(past.data).toEqual([]);
    expect(past.meta.pagination).toMatchObject({ 'current-page': 999, 'next-page': null, 'total-count': 5 });
    expect((await list('page[size]=5000')).meta.pagination['page-size']).toBe(100);
  });

  it.each([
    ['search[name]=net', ['net-dev', 'net-prod']],
    ['search[name]=DEV', ['app-dev', 'net-dev']],
    ['search[wildcard-name]=*-dev', ['app-dev', 'net-dev']],
    ['search[wildcard-name]=n*t-*d*', ['net-dev', 'net-prod']],
    ['search[wildcard-name]=net', []],
    ['search[wildcard-name]=zone', ['zone']],
    ['search[tags]=prod', ['app-prod', 'net-prod']],
    ['search[tags]=prod,dev', []],
    ['search[exclude-tags]=prod,none', ['app-dev', 'net-dev']],
    ['filter[tagged][0][key]=dev', ['app-dev', 'net-dev']],
    ['filter[tagged][0][key]=dev&filter[tagged][0][value]=net', ['net-dev']],
    [
      'TagBindings=%7B0xc000%7D&filter%5Btagged%5D%5B0%5D%5Bkey%5D=prod&search%5Btags%5D=prod',
      ['app-prod', 'net-prod'],
    ],
    ['search[tags]=constructor', []],
    ['filter[current-run][status]=applied', []],
  ])('filters by %s', async (query, expected) => {
    expect(await search(query)).toEqual(expected);
  });

  it('filters by project', async () => {
    const projects = await api.get(`organizations/${organization}/projects?filter[names]=Net`);
    expect(await search(`filter[project][id]=${projects.body.data[0].id}`)).toEqual(['net-dev', 'net-prod']);
  });

  it('matches hostile wildcards in linear time', async () => {
    expect(await search(`search[wildcard-name]=${'*a'.repeat(2000)}b`)).toEqual([]);
  });

  it('filters by the status of the current run', async () => {
    const workspace = (await api.get(`organizations/${organization}/workspaces/zone`)).body.data;
    await api.configuration(workspace.id);
    const run = await api.post('runs', {}, { workspace: { data: { type: 'workspaces', id: workspace.id } } });
    await table.update(keys.workspace(workspace.id), { set: { latestRunId: run.body.data.id } });
    expect(await search('filter[current-run][status]=pending,planning')).toEqual(['zone']);
    expect(await search('sort=-current-run.created-at&page[size]=1')).toEqual(['zone']);
    expect(await search('sort=current-run.created-at&page[size]=1')).toEqual(['zone']);
    const { included } = await list('include=current_run&search[name]=zone');
    expect(included.map(({ id }: Named) => id)).toEqual([run.body.data.id]);
  });
});

describe('the list of workspaces by latest change', () => {
  const workspaces = 'organizations/changing/workspaces';
  const ids = new Map<string, string>();
  const newest = async (query = '') => names((await api.get(`${workspaces}?sort=-latest-change-at${query}`)).body.data);

  beforeAll(async () => {
    await api.post('organizations', { name: 'changing', email: 'a@b.test' });
    for (const name of ['first', 'second', 'third']) ids.set(name, (await api.post(workspaces, { name })).body.data.id);
  });

  it('moves a workspace with each new state, not with its settings', async () => {
    const id = ids.get('first');
    await api.patch(`workspaces/${ids.get('second')}`, { description: 'changed' });
    expect(await newest()).toEqual(['third', 'second', 'first']);
    await api.call('POST', `workspaces/${id}/actions/lock`);
    const { text, ...state } = stateFile({ resources: [resource('null_resource', 'a', 1)] });
    await api.post(`workspaces/${id}/state-versions`, { ...state, state: Buffer.from(text).toString('base64') });
    expect(await newest()).toEqual(['first', 'third', 'second']);
    expect(await newest('&search[name]=s'), 'with a filter').toEqual(['first', 'second']);
  });

  it('has pages with totals', async () => {
    const page = async (n: number) =>
      (await api.get(`${workspaces}?sort=latest-change-at&page[size]=2&page[number]=${n}`)).body;
    const [first, second, third] = [await page(1), await page(2), await page(3)];
    expect([first, second, third].map(({ data }) => names(data))).toEqual([['second', 'third'], ['first'], []]);
    expect([first, second, third].map(({ meta }) => meta.pagination['total-count'])).toEqual([3, 3, 3]);
    expect([first, second].map(({ meta }) => meta.pagination['next-page'])).toEqual([2, null]);
  });

  it('lacks a deleted workspace until it is recovered', async () => {
    const id = ids.get('third');
    await api.call('DELETE', `workspaces/${id}`);
    expect(await newest()).toEqual(['first', 'second']);
    expect((await api.call('PUT', `recoverable-items/${id?.replace('ws-', 'ri-')}/actions/recover`)).status).toBe(204);
    expect(await newest()).toEqual(['first', 'third', 'second']);
  });

  it('shows a member no workspace without a right to read it', async () => {
    const member = actingAs(api, (await (await memberHelpers()).member('changing')).token);
    expect((await member.get(`${workspaces}?sort=-latest-change-at`)).body.data).toEqual([]);
  });
});
