import { beforeEach, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { runHelpers } from '#test/support/runs.ts';
import { resource, stateFile } from '#test/support/state.ts';

let organization: string;

const api = await startApi();
const help = await runHelpers(api);
const members = await memberHelpers();
beforeEach(async () => {
  organization = uniqueName('explored');
  await api.post('organizations', { name: organization, email: 'o@example.test' });
});

const create = async (name: string, attributes: object = {}) =>
  (await api.post(`organizations/${organization}/workspaces`, { name, ...attributes })).body.data;

const provider = (name: string) => ({ provider: `provider["registry.terraform.io/hashicorp/${name}"]` });

const write = async (id: string, serial: number, resources: object[]) => {
  await api.call('POST', `workspaces/${id}/actions/lock`);
  const { text, ...attributes } = stateFile({ serial, resources });
  const answer = await api.post(`workspaces/${id}/state-versions`, {
    ...attributes,
    state: Buffer.from(text).toString('base64'),
  });
  expect(answer.status).toBe(201);
  await api.call('POST', `workspaces/${id}/actions/unlock`);
};

const ask = (query: string, token = api.token) => api.get(`organizations/${organization}/explorer?${query}`, { token });
const rowsOf = async (query: string, token?: string) => {
  const { status, body } = await ask(query, token);
  expect([status, body.errors]).toEqual([200, undefined]);
  return body.data.map(({ attributes }: { attributes: object }) => attributes);
};

it('the explorer returns workspaces with facts about their states and runs', async () => {
  const { id } = await create('net', { 'terraform-version': '1.9.0' });
  await api.call('POST', `workspaces/${id}/relationships/tags`, {
    body: { data: [{ type: 'tags', attributes: { name: 'prod' } }] },
  });
  await write(id, 1, [
    resource('aws_vpc', 'a', 2, provider('aws')),
    resource('null_resource', 'b', 1, provider('null')),
  ]);
  await api.configuration(id);
  const run = await help.create(id);
  await create('other');
  const { body } = await ask('type=workspaces');
  expect(body.meta).toEqual({ pagination: expect.objectContaining({ 'total-count': 2 }) });
  expect(body.data[0]).toEqual({
    id,
    type: 'visibility-workspace',
    attributes: expect.objectContaining({
      'workspace-name': 'net',
      'workspace-terraform-version': '1.9.0',
      'state-version-terraform-version': '1.11.4',
      'resource-count': 3,
      'current-rum-count': 2,
      'provider-count': 2,
      providers: 'registry.terraform.io/hashicorp/aws, registry.terraform.io/hashicorp/null',
      modules: null,
      tags: 'prod',
      drifted: null,
      'project-name': 'Default Project',
      'organization-name': organization,
      'external-id': id,
    }),
  });
  await help.bring(run.id, { status: 'applied', 'statusTimestamps.applied-at': '2026-01-02T00:00:00.000Z' });
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  await update(keys.workspace(id), { set: { latestRunId: run.id } });
  const applied = 'filter[0][current_run_applied_at][is_after][0]=2026-01-01&fields=workspace_name,current_run_status';
  expect(await rowsOf(`type=workspaces&${applied}`)).toEqual([
    { 'workspace-name': 'net', 'current-run-status': 'applied' },
  ]);
  // Recorded now, with the same result.
  expect(await rowsOf(`type=workspaces&${applied}`)).toHaveLength(1);
});

it('the explorer names the step that failed a run, beside its status', async () => {
  const { id } = await create('failed');
  await api.configuration(id);
  const run = await help.create(id);
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  await update(keys.workspace(id), { set: { latestRunId: run.id } });
  const shown = async () => rowsOf('type=workspaces&fields=current_run_status,current_run_display');
  expect(await shown()).toEqual([{ 'current-run-status': 'pending', 'current-run-display': 'Pending' }]);
  await help.bring(run.id, {
    status: 'errored',
    'statusTimestamps.planning-at': '2026-01-02T00:00:00.000Z',
    verdicts: { post_plan: 'failed' },
    failedTasks: ['cost-control'],
  });
  const failed = [{ 'current-run-status': 'errored', 'current-run-display': 'Plan Errored · run task cost-control' }];
  expect(await shown()).toEqual(failed);
  // From the facts that the first query recorded: the run is not read again.
  await help.bring(run.id, { failedTasks: ['another'] });
  expect(await shown()).toEqual(failed);
});

it('the explorer follows the current state, and drops deleted workspaces', async () => {
  const { id } = await create('w');
  const count = async () => (await rowsOf('type=workspaces&fields=current_rum_count'))[0]?.['current-rum-count'];
  expect(await count()).toBeNull();
  await write(id, 1, [resource('aws_vpc', 'a', 1, provider('aws'))]);
  expect(await count()).toBe(1);
  await write(id, 2, [resource('aws_vpc', 'a', 5, provider('aws'))]);
  expect(await count()).toBe(5);
  const { readFacts } = await import('#features/explorer/facts.ts');
  expect([...(await readFacts(organization)).keys()]).toEqual([id]);
  await api.call('DELETE', `workspaces/${id}`);
  expect(await rowsOf('type=workspaces')).toEqual([]);
  expect((await readFacts(organization)).size).toBe(0);
});

it('the explorer counts workspaces by version, provider and module', async () => {
  const [a, b] = [
    await create('a', { 'terraform-version': '1.9.0' }),
    await create('b', { 'terraform-version': '1.10.0' }),
  ];
  await create('c', { 'terraform-version': '1.10.0' });
  await write(a.id, 1, [resource('aws_vpc', 'a', 1, provider('aws'))]);
  await write(b.id, 1, [
    resource('aws_vpc', 'a', 1, provider('aws')),
    resource('thing', 'b', 1, { provider: 'provider["registry.example.com/acme/own"]' }),
  ]);
  expect(await rowsOf('type=tf_versions&sort=version')).toEqual([
    { version: '1.9.0', 'workspace-count': 1, workspaces: 'a' },
    { version: '1.10.0', 'workspace-count': 2, workspaces: 'b, c' },
  ]);
  expect(await rowsOf('type=providers&sort=-workspace_count')).toEqual([
    {
      ...{ name: 'aws', source: 'registry.terraform.io/hashicorp/aws', version: null },
      ...{ 'registry-type': 'public', 'workspace-count': 2, workspaces: 'a, b' },
    },
    {
      ...{ name: 'own', source: 'registry.example.com/acme/own', version: null },
      ...{ 'registry-type': 'private', 'workspace-count': 1, workspaces: 'b' },
    },
  ]);
  expect(await rowsOf('type=modules')).toEqual([]);
  const some = 'type=resources&filter[0][workspace_name][is][0]=b&fields=address,billable_rum,source_type&sort=address';
  expect(await rowsOf(some)).toEqual([
    { address: 'aws_vpc.a', 'billable-rum': true, 'source-type': 'local' },
    { address: 'thing.b', 'billable-rum': true, 'source-type': 'local' },
  ]);
});

it('the explorer returns pages, and CSV without pages', async () => {
  for (const name of ['a', 'b', 'c']) await create(name);
  const page = await ask('type=workspaces&sort=-workspace_name&fields=workspace_name&page[size]=2&page[number]=2');
  expect(page.body.data.map(({ attributes }: { attributes: object }) => attributes)).toEqual([
    { 'workspace-name': 'a' },
  ]);
  expect(page.body.links.prev).toContain('sort=-workspace_name');
  const csv = await api.get(
    `organizations/${organization}/explorer/export/csv?type=workspaces&fields=workspace_name,tags`,
  );
  expect([csv.headers['content-type'], csv.headers['content-disposition']]).toEqual([
    'text/csv; charset=utf-8',
    'attachment; filename="explorer-workspaces.csv"',
  ]);
  expect(csv.body).toBe('"workspace_name","tags"\r\n"a",""\r\n"b",""\r\n"c",""\r\n');
});

it.each([
  ['', /type must be one of/],
  ['type=nosuch', /type must be one of/],
  ['type=workspaces&filter[0][nosuch][is][0]=1', /nosuch is not a field of workspaces/],
  ['type=workspaces&filter[0][workspace_name][gt][0]=1', /workspace_name cannot be filtered by gt/],
  ['type=workspaces&filter[0][drifted][is_not][0]=true', /drifted cannot be filtered by is_not/],
  ['type=workspaces&filter[0][drifted][is][0]=maybe', /must be true or false/],
  ['type=workspaces&filter[0][module_count][gt][0]=many', /must be a number/],
  ['type=workspaces&filter[0][workspace_created_at][is_after][0]=now', /must be a time/],
  ['type=workspaces&filter[0][workspace_name][is][1]=a', /must be filter\[<number>\]/],
  ['type=workspaces&filter[a][workspace_name][is][0]=a', /must be filter\[<number>\]/],
  ['type=workspaces&filter[0][tags][is][0]=a&filter[0][modules][is][0]=a', /filter\[0\] is set more than once/],
  ['type=workspaces&sort=nosuch', /nosuch is not a field/],
  ['type=workspaces&fields=__proto__', /__proto__ is not a field/],
  ['type=workspaces&filter[0][constructor][is][0]=a', /constructor is not a field/],
  ['type=workspaces&q=a', /Unknown query parameter q/],
])('the explorer rejects %s', async (query, detail) => {
  const { status, body } = await ask(query);
  expect([status, body.errors[0].detail]).toEqual([400, expect.stringMatching(detail)]);
});

it('the explorer stores views', async () => {
  for (const name of ['a', 'b']) await create(name);
  const path = `organizations/${organization}/explorer/views`;
  const query = {
    type: 'workspaces',
    filter: [{ field: 'workspace_name', operator: 'contains', value: ['A'] }],
    fields: ['workspace_name'],
    sort: ['-workspace_name'],
  };
  // The form in HCP Terraform's documentation: without attributes.
  const body = { data: { name: 'Mine', query_type: 'workspaces', query } };
  const made = await api.call('POST', path, { body });
  expect(made.status).toBe(201);
  const view = made.body.data;
  expect(view).toMatchObject({
    id: expect.stringMatching(/^sq-/),
    type: 'explorer-saved-queries',
    attributes: { name: 'Mine', 'query-type': 'workspaces', query },
  });
  expect((await api.get(path)).body.data).toEqual([view]);
  expect((await api.get(`${path}/${view.id}`)).body.data).toEqual(view);
  const results = await api.get(`${path}/${view.id}/results`);
  expect(results.body.data.map(({ attributes }: { attributes: object }) => attributes)).toEqual([
    { 'workspace-name': 'a' },
  ]);
  expect((await api.get(`${path}/${view.id}/csv`)).body).toBe('"workspace_name"\r\n"a"\r\n');
  const renamed = await api.patch(`${path}/${view.id}`, { name: 'Ours' });
  expect(renamed.body.data.attributes).toMatchObject({ name: 'Ours', query });
  const dropped = await api.call('DELETE', `${path}/${view.id}`);
  expect([dropped.status, dropped.body.data.id]).toEqual([200, view.id]);
  expect((await api.get(`${path}/${view.id}`)).status).toBe(404);
});

it.each([
  [{ name: 'a' }, /query: is missing/],
  [{ query: { type: 'workspaces' } }, /name: is missing/],
  [{ name: ' ', query: { type: 'workspaces' } }, /is empty/],
  [{ name: 'a', query: { type: 'nosuch' } }, /type must be one of/],
  [{ name: 'a', 'query-type': 'modules', query: { type: 'workspaces' } }, /query-type: is modules/],
  [{ name: 'a', query: { type: 'workspaces', nosuch: 1 } }, /nosuch/],
  [{ name: 'a', query: { type: 'workspaces', filter: [{ field: 'tags' }] } }, /must have field, operator, and one/],
  [{ name: 'a', query: { type: 'workspaces', filter: [{ tags: { is: ['a', 'b'] } }] } }, /one value/],
  [{ name: 'a', query: { type: 'workspaces', fields: ['nosuch'] } }, /nosuch is not a field/],
])('the explorer rejects a view of %j', async (attributes, detail) => {
  const { status, body } = await api.post(`organizations/${organization}/explorer/views`, attributes);
  expect([status, body.errors[0].detail]).toEqual([422, expect.stringMatching(detail)]);
});

it('the explorer keeps views within their organization', async () => {
  const view = (await api.post('organizations/acme/explorer/views', { name: 'a', query: { type: 'workspaces' } })).body
    .data.id;
  for (const path of [`views/${view}`, `views/${view}/results`]) {
    expect((await api.get(`organizations/${organization}/explorer/${path}`)).status).toBe(404);
  }
});

it('the explorer shows members only visible workspaces, and only states that they may read', async () => {
  const [seen, hidden] = [await create('seen'), await create('hidden')];
  for (const { id } of [seen, hidden]) await write(id, 1, [resource('aws_vpc', 'a', 1, provider('aws'))]);
  const none = await members.member(organization);
  expect((await ask('type=workspaces', none.token)).status).toBe(403);
  const projects = await members.withFlags(organization, 'read-projects');
  expect(await rowsOf('type=workspaces', projects.token)).toEqual([]);
  await api.post(
    'team-workspaces',
    { access: 'custom', runs: 'read', variables: 'none', 'state-versions': 'none' },
    {
      team: { data: { type: 'teams', id: projects.team.id } },
      workspace: { data: { type: 'workspaces', id: seen.id } },
    },
  );
  expect(await rowsOf('type=workspaces&fields=workspace_name,providers', projects.token)).toEqual([
    { 'workspace-name': 'seen', providers: null },
  ]);
  expect(await rowsOf('type=resources', projects.token)).toEqual([]);
  expect(await rowsOf('type=providers', projects.token)).toEqual([]);
  const readers = await members.withFlags(organization, 'read-workspaces');
  expect(await rowsOf('type=resources&fields=workspace_name&sort=workspace_name', readers.token)).toEqual([
    { 'workspace-name': 'hidden' },
    { 'workspace-name': 'seen' },
  ]);
});

it('the explorer indexes nothing in an organization without queries', async () => {
  const { id } = await create('w');
  await write(id, 1, [resource('aws_vpc', 'a')]);
  await api.configuration(id);
  await help.create(id);
  const { readFacts } = await import('#features/explorer/facts.ts');
  expect((await readFacts(organization)).size).toBe(0);
});

it('the explorer reads each state for the first page of resources only, and a new state at once', async () => {
  const ids = [];
  for (let i = 0; i < 5; i++) {
    const { id } = await create(`w${i}`);
    await write(id, 1, [resource('aws_vpc', `a${i}`, 2, provider('aws'))]);
    ids.push(id);
  }
  const objectsOf = async (query: string) => {
    const before = api.storage.calls.length;
    const { body } = await ask(`type=resources&sort=address&page[size]=4&${query}`);
    const addresses = body.data.map(({ attributes }: { attributes: { address: string } }) => attributes.address);
    return { addresses, objects: api.storage.calls.slice(before).filter((call) => call.startsWith('s3 GET')).length };
  };
  const first = await objectsOf('page[number]=1');
  expect(first.addresses).toEqual(['aws_vpc.a0', 'aws_vpc.a0', 'aws_vpc.a1', 'aws_vpc.a1']);
  expect(first.objects).toBeGreaterThanOrEqual(5);
  const second = await objectsOf('page[number]=2');
  expect(second).toEqual({
    addresses: ['aws_vpc.a2', 'aws_vpc.a2', 'aws_vpc.a3', 'aws_vpc.a3'],
    objects: 0,
  });
  await write(ids[0] as string, 2, [resource('aws_vpc', 'new', 1, provider('aws'))]);
  const afterwards = await objectsOf('filter[0][address][contains][0]=new');
  expect(afterwards.addresses).toEqual(['aws_vpc.new']);
  expect(afterwards.objects).toBeLessThanOrEqual(2);
});
