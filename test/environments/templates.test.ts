import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import type { Plan } from '#environments/templates/plan.ts';
import { uniqueName } from '#test/support/api.ts';
import { startEnvironments } from './support.ts';

/** Templates and their versions: files, imports, settings, and the active version. The tests end the imports' runs. */

const world = await startEnvironments();
const { handler } = await import('#environments/settle-handler.ts');
const { getVersion } = await import('#environments/templates/versions.ts');
const { openInputs } = await import('#resources/runs/inputs.ts');
const { getRun, updateRun } = await import('#resources/runs/records.ts');

const tarOf = async (files: Record<string, string>) => gunzipSync(await packFiles(files)).toString('latin1');

const upload = (body: string) =>
  world.call('POST', '/files', { body, headers: { 'content-type': 'application/x-tar' } });

const main = `variable "zone" { default = "eu-1a" }
variable "key" { sensitive = true }
variable "start_count" { default = 1 }
`;
const values = [{ name: 'key', value: 'hunter2' }];

const push = async (more: object = {}, files: Record<string, string> = { 'main.tf': main, 'README.md': 'Read me' }) => {
  const { hash } = (await upload(await tarOf(files))).body;
  const body = { name: uniqueName('v'), file_id: hash, user_variable_values: values, ...more };
  return world.call('POST', '/organizations/acme/templateversions', { body });
};

const runsOf = async (versionId: string): Promise<string[]> => {
  return (await getVersion(versionId))?.runIds ?? [];
};

const planned: Plan = {
  prior_state: {
    values: {
      root_module: {
        resources: [
          [
            'coder_parameter',
            {
              name: 'size',
              type: 'number',
              default: '1',
              optional: true,
              validation: [{ max: 9, min_disabled: true }],
            },
          ],
          ['coder_workspace_preset', { name: 'small', default: true, parameters: { size: '1', color: 'red' } }],
        ].map(([type, of]) => ({ address: `data.${type}.a`, mode: 'data', type, name: 'a', values: of }) as never),
      },
    },
  },
  planned_values: {
    root_module: {
      resources: [{ address: 'terraform_data.home', mode: 'managed', type: 'terraform_data', name: 'home' }],
    },
  },
};

const endRun = async (runId: string, plan: Plan | undefined, set: Record<string, unknown>) => {
  const { putObject } = await import('#platform/store/bucket.ts');
  const { objects } = await import('#platform/store/keys.ts');
  if (plan) await putObject(objects.artifact(runId, 'plan', 'plan-json'), JSON.stringify(plan));
  await updateRun(runId, { set });
};

/** Ends the runs of an import. @returns the version's document */
const finish = async (
  versionId: string,
  plan: Plan = planned,
  set: Record<string, unknown> = {
    status: 'planned_and_finished',
    plan: { status: 'finished', statusTimestamps: {} },
  },
) => {
  for (const runId of await runsOf(versionId)) await endRun(runId, plan, set);
  const [{ body }, other] = await Promise.all([
    world.call('GET', `/templateversions/${versionId}`),
    world.call('GET', `/templateversions/${versionId}`),
  ]);
  expect(other.body.job.status, 'a reader at the same time').toBe(body.job.status);
  return body;
};

const createTemplate = (versionId: string, more: object = {}) =>
  world.call('POST', '/organizations/acme/templates', {
    body: { name: uniqueName('demo'), template_version_id: versionId, ...more },
  });

const messageOf = ({ status, body }: { status: number; body: { message: string } }) => [status, body.message];

it('the same archive of a user is stored once, and downloaded as tar or zip by users who see its templates', async () => {
  const archive = await tarOf({ 'main.tf': '# 1\n' });
  const [first, again] = [await upload(archive), await upload(archive)];
  expect([first.status, again.status, again.body.hash]).toEqual([201, 200, first.body.hash]);
  const path = `/files/${first.body.hash}`;
  const { token } = await world.members.withLevel('acme', 'read');
  expect((await world.call('GET', path, { token })).status, 'before its use').toBe(404);
  await push({ file_id: first.body.hash, user_variable_values: [] });
  const tar = await world.call('GET', path, { token });
  expect([tar.status, tar.headers['content-type'], tar.body]).toEqual([200, 'application/x-tar', archive]);
  const { filesInZip } = await import('#environments/templates/zip.ts');
  const wrong = await world.call('POST', '/files', { body: 'x', headers: { 'content-type': 'application/zip' } });
  expect([wrong.status, wrong.body.detail]).toEqual([400, expect.stringContaining('not a zip archive')]);
  const zip = await world.call('GET', `${path}?format=zip`);
  expect(zip.headers['content-type']).toBe('application/zip');
  const files = await filesInZip(Buffer.from(zip.body, 'latin1'));
  expect(files.map(({ name, content }) => [name, String(content)])).toEqual([['main.tf', '# 1\n']]);
  expect((await world.call('GET', `${path}?format=rar`)).status).toBe(400);
  const member = await world.members.member('acme');
  const headers = { 'content-type': 'application/x-tar' };
  expect((await world.call('POST', '/files', { body: '', headers, token: member.token })).status).toBe(403);
  expect((await world.call('POST', '/files', { body: 'x' })).status, 'another type').toBe(400);
  expect((await upload('no archive'.repeat(100))).status).toBe(400);
});

it('a version is imported by a plan of a start and one of a stop, with its variables', async () => {
  const pushed = await push({ message: 'first' });
  const { id } = pushed.body;
  const path = `/templateversions/${id}`;
  expect([pushed.status, pushed.body.job.status]).toEqual([201, 'pending']);
  expect((await world.call('GET', `${path}/rich-parameters`)).status).toBe(425);
  expect((await world.call('GET', `${path}/resources`)).status).toBe(400);
  expect((await world.call('GET', `${path}/variables`)).status).toBe(403);
  const notBuilt = [400, expect.stringContaining('built successfully')];
  expect(messageOf(await createTemplate(id))).toEqual(notBuilt);
  const inputs = [];
  for (const runId of await runsOf(id)) {
    const run = (await getRun(runId)) as NonNullable<Awaited<ReturnType<typeof getRun>>>;
    expect(run).toMatchObject({ planOnly: true, autoApply: false, isDestroy: false, environment: `version ${id}` });
    inputs.push(Object.fromEntries((await openInputs(run)).map(({ key, value }) => [key, value])));
  }
  const both = { key: 'hunter2', CODER_WORKSPACE_OWNER_GROUPS: '["Everyone"]' };
  expect(inputs).toMatchObject([
    { ...both, CODER_WORKSPACE_TRANSITION: 'start', start_count: '1' },
    { ...both, CODER_WORKSPACE_TRANSITION: 'stop', start_count: '0' },
  ]);
  expect(await finish(id)).toMatchObject({
    id,
    template_id: null,
    message: 'first',
    readme: 'Read me',
    archived: false,
    created_by: { username: 'owner' },
    import_warnings: ['Preset "small" sets parameter "color", which the template does not have.'],
    job: { status: 'succeeded', error: '', type: 'template_version_import', input: { template_version_id: id } },
    // Without a provisioner that was just seen, clients warn that none is available.
    matched_provisioners: { count: 1, available: 1 },
  });
  const [size] = (await world.call('GET', `${path}/rich-parameters`)).body;
  expect(size).toMatchObject({ name: 'size', type: 'number', default_value: '1', required: false, mutable: false });
  expect([size.validation_min, size.validation_max]).toEqual([undefined, 9]);
  const [preset] = (await world.call('GET', `${path}/presets`)).body;
  expect(preset).toMatchObject({ Name: 'small', Default: true, DesiredPrebuildInstances: null });
  expect((await world.call('GET', `${path}/resources`)).body).toMatchObject([
    { workspace_transition: 'start', type: 'terraform_data', name: 'home', hide: false, daily_cost: 0 },
    { workspace_transition: 'stop', type: 'terraform_data', name: 'home' },
  ]);
  expect((await world.call('GET', `${path}/variables`)).body).toMatchObject([
    { name: 'zone', type: 'string', value: 'eu-1a', default_value: 'eu-1a', required: false, sensitive: false },
    { name: 'key', value: '', default_value: '', required: true, sensitive: true },
    { name: 'start_count', value: '1', default_value: '1', required: false, sensitive: false },
  ]);
  expect((await world.call('GET', `${path}/external-auth`)).body).toEqual([]);
  const log: { stage: string; log_level: string; output: string }[] = (await world.call('GET', `${path}/logs`)).body;
  expect(log.map(({ stage, log_level, output }) => `${stage} ${log_level} ${output}`.trim())).toEqual([
    'Setting up info',
    'Parsing template parameters info',
    'Detecting persistent resources info',
    'Detecting ephemeral resources info',
    'Checking presets info',
    'Checking presets warn Preset "small" sets parameter "color", which the template does not have.',
    'Cleaning Up info',
  ]);
});

it('an import fails without required values, if its run fails, or if its plan cannot be used', async () => {
  const missing = (await push({ user_variable_values: [] })).body.job;
  expect(missing).toMatchObject({ status: 'failed', error_code: 'REQUIRED_TEMPLATE_VARIABLES' });
  expect(missing.error).toBe('required template variables need values: key');
  expect((await push({ name: '' })).body.name, 'generated').toMatch(/^[a-z]+_[a-z]+\d+$/);
  expect((await push({ user_variable_values: [{ name: 'none', value: '' }] })).status).toBe(400);
  const failed = (await push()).body.id;
  const { job } = await finish(failed, planned, { status: 'errored', endReason: 'no disk' });
  expect(job).toMatchObject({ status: 'failed', error: 'no disk', completed_at: expect.any(String) });
  expect(messageOf(await createTemplate(failed))[1]).toContain('built successfully');
  const lost = (await push()).body.id;
  for (const runId of await runsOf(lost)) {
    await endRun(runId, undefined, { status: 'planned_and_finished' });
    await handler({ runId });
  }
  await handler({ runId: 'run-of-no-job' });
  expect((await getVersion(lost))?.error).toBe('The plan was deleted.');
  const auth = {
    address: 'a',
    mode: 'data' as const,
    type: 'coder_external_auth',
    name: 'g',
    values: { id: 'github' },
  };
  const refused = await finish((await push()).body.id, {
    prior_state: { values: { root_module: { resources: [auth] } } },
  });
  expect(refused.job).toMatchObject({ status: 'failed', error: expect.stringContaining('"github" is required') });
});

it('a version is refused when its files are nested too deep, and from the token of an organization', async () => {
  const deep = `variable "a" {\n  default = ${'['.repeat(200_000)}\n}\n`;
  const { status, body: answer } = await push({}, { 'main.tf': deep });
  expect([status, answer.detail]).toEqual([400, expect.stringContaining('200 levels')]);
  const { token } = await world.members.acting('acme', 'organization');
  const archive = await tarOf({ 'main.tf': '' });
  const headers = { 'content-type': 'application/x-tar' };
  const { hash } = (await world.call('POST', '/files', { body: archive, headers, token })).body;
  const body = { file_id: hash };
  const refused = await world.call('POST', '/organizations/acme/templateversions', { body, token });
  expect(messageOf(refused)).toEqual([403, expect.stringContaining('run:plan')]);
});

it('an import is canceled once, in the state that the caller expects', async () => {
  const { id } = (await push()).body;
  const path = `/templateversions/${id}/cancel`;
  const cancel = async (query = '') => (await world.call('PATCH', path + query)).status;
  expect([await cancel('?expect_status=done'), await cancel('?expect_status=running')]).toEqual([400, 412]);
  const [first = ''] = await runsOf(id);
  await endRun(first, planned, { status: 'planned_and_finished' });
  expect([await cancel('?expect_status=pending'), await cancel('?expect_status=running')]).toEqual([412, 200]);
  expect([await cancel(), (await getRun(first))?.cancel]).toEqual([400, undefined]);
});

it('a dry run plans a version with the values of its author, who reads its resources', async () => {
  const { id } = (await push({ template_id: (await world.addTemplate()).id })).body;
  const path = `/templateversions/${id}/dry-run`;
  const start = (body: object = {}, sent = {}) => world.call('POST', path, { body, ...sent });
  expect((await start()).status, 'before the import').toBe(425);
  await finish(id);
  const value = (text: string) => ({ rich_parameter_values: [{ name: 'size', value: text }] });
  expect(messageOf(await start(value('many')))).toEqual([400, 'Unable to validate parameter "size"']);
  expect((await start({ user_variable_values: values })).status).toBe(400);
  const person = await world.members.withLevel('acme', 'plan');
  const reader = await world.members.withLevel('acme', 'read');
  expect((await start(value('1'), reader)).status).toBe(403);
  const begun = await start(value('1'), person);
  expect([begun.status, begun.body]).toEqual([
    201,
    expect.objectContaining({
      status: 'pending',
      type: 'template_version_dry_run',
      input: { template_version_id: id },
    }),
  ]);
  const own = `${path}/${begun.body.id}`;
  expect((await world.call('GET', `${own}/resources`, person)).status).toBe(400);
  const { dryRunById } = await import('#environments/templates/dry-runs.ts');
  const [runId = ''] = (await dryRunById(id, begun.body.id))?.runIds ?? [];
  const plan = { status: 'unreachable', statusTimestamps: {} };
  const run = (await getRun(runId)) as NonNullable<Awaited<ReturnType<typeof getRun>>>;
  expect(run).toMatchObject({ planOnly: true, autoApply: false, isDestroy: false });
  const inputs = await openInputs(run);
  for (const [key, value] of Object.entries({
    CODER_WORKSPACE_NAME: 'dryrun',
    CODER_WORKSPACE_TRANSITION: 'start',
    start_count: '1',
    key: 'hunter2',
  }))
    expect(inputs).toContainEqual(expect.objectContaining({ key, value, hcl: false, sensitive: key === 'key' }));
  await endRun(runId, planned, { status: 'planned_and_finished', plan });
  const [, ...read] = await Promise.all([handler({ runId }), ...[1, 2].map(() => world.call('GET', own, person))]);
  const succeeded = { body: { status: 'succeeded', error: '' } };
  expect(read, 'also for readers at the same time').toMatchObject([succeeded, succeeded]);
  expect((await world.call('GET', `${own}/resources`, person)).body).toMatchObject([
    { type: 'terraform_data', name: 'home', workspace_transition: 'start' },
  ]);
  const stages = (await world.call('GET', `${own}/logs`, person)).body.map(({ stage }: { stage: string }) => stage);
  expect([stages[0], stages.at(-1)]).toEqual(['Setting up', 'Cleaning Up']);
  expect((await world.call('PATCH', `${own}/cancel`, person)).status).toBe(400);
  const other = await world.members.withLevel('acme', 'plan');
  expect([(await world.call('GET', own, other)).status, (await world.call('GET', own)).status]).toEqual([404, 200]);
  const second = `${path}/${(await start({}, person)).body.id}`;
  expect((await world.call('PATCH', `${second}/cancel?expect_status=running`, person)).status).toBe(412);
  expect((await world.call('PATCH', `${second}/cancel`, person)).status).toBe(200);
  const canceled = (await dryRunById(id, second.slice(path.length + 1)))?.runIds[0] ?? '';
  await updateRun(canceled, { set: { status: 'canceled' } });
  expect((await world.call('GET', second, person)).body).toMatchObject({ status: 'canceled', error: '' });
});

it('a template is created from a version of its own, and found by id, by name and by search', async () => {
  const { id } = (await push()).body;
  await finish(id);
  const name = uniqueName('found');
  const made = await createTemplate(id, { name, display_name: 'Found', default_ttl_ms: 3_600_000 });
  expect([made.status, made.body]).toEqual([
    201,
    expect.objectContaining({
      name,
      display_name: 'Found',
      active_version_id: id,
      created_by_name: 'owner',
      default_ttl_ms: 3_600_000,
      deprecated: false,
      allow_user_autostart: true,
      allow_user_autostop: true,
      autostop_requirement: { days_of_week: [], weeks: 1 },
      // Clients use other routes for parameters otherwise, which are not served.
      use_classic_parameter_flow: true,
    }),
  ]);
  expect(messageOf(await createTemplate(id))).toEqual([400, `Template version ${id} is already part of a template`]);
  const other = (await push()).body.id;
  await finish(other);
  const workspaces = (await Promise.all([id, other].map(getVersion))).map((version) => version?.workspaceId);
  expect(new Set(workspaces).size, 'one workspace for their imports').toBe(1);
  expect((await createTemplate(other, { name: name.toUpperCase() })).status).toBe(409);
  expect((await createTemplate(crypto.randomUUID())).status).toBe(404);
  for (const path of [`/templates/${made.body.id}`, `/organizations/acme/templates/${name}`])
    expect((await world.call('GET', path)).body).toEqual(made.body);
  const search = async (query: string) =>
    (await world.call('GET', `/templates?q=${query}`)).body.map((one: { name: string }) => one.name);
  for (const query of [
    '',
    name,
    `exact_name:${name}`,
    'author:me',
    'author:owner',
    'organization:acme',
    'deprecated:false',
  ])
    expect(await search(query), query).toContain(name);
  for (const query of ['none', 'exact_name:found', 'author:unknown', 'organization:other', 'deprecated:true'])
    expect(await search(query), query).not.toContain(name);
  expect((await world.call('GET', '/templates?q=color:red')).status).toBe(400);
});

it('settings of a template can be changed, and invalid ones are rejected by name', async () => {
  const template = await world.addTemplate();
  const change = (body: object) => world.call('PATCH', `/templates/${template.id}`, { body: { ...flags, ...body } });
  // Clients leave out flags that are false.
  const flags = { allow_user_autostart: true, allow_user_autostop: true };
  const same = { display_name: '', failure_ttl_ms: 0, autostop_requirement: { weeks: 0 } };
  expect((await change(same)).status, 'the same').toBe(304);
  const name = uniqueName('renamed');
  expect((await change({ name })).body).toMatchObject({ name });
  const named = async (one: string) => (await world.call('GET', `/organizations/acme/templates/${one}`)).status;
  expect([await named(name), await named(template.name)]).toEqual([200, 404]);
  const settings = { deprecation_message: 'old', failure_ttl_ms: 60_000, autostop_requirement: { weeks: 16 } };
  const required = { require_active_version: true, allow_user_cancel_workspace_jobs: true };
  expect((await change(required)).body).toMatchObject(required);
  expect((await change(settings)).body).toMatchObject({
    deprecated: true,
    deprecation_message: 'old',
    failure_ttl_ms: 60_000,
    autostop_requirement: { weeks: 16 },
    require_active_version: false,
  });
  expect((await change({ ...settings, deprecation_message: '', allow_user_autostart: undefined })).body).toMatchObject({
    deprecated: false,
    allow_user_autostart: false,
  });
  expect((await change({ name: (await world.addTemplate()).name })).status).toBe(409);
  const wrong = {
    failure_ttl_ms: 59_999,
    time_til_dormant_ms: 1,
    time_til_dormant_autodelete_ms: 1,
    autostop_requirement: { days_of_week: ['noday'], weeks: 17 },
    autostart_requirement: { days_of_week: ['noday'] },
    use_classic_parameter_flow: false,
    max_port_share_level: 'public',
  };
  const { status, body } = await change(wrong);
  const days = ['autostart_requirement.days_of_week', 'autostop_requirement.days_of_week'];
  const names = ['failure_ttl_ms', 'time_til_dormant_ms', 'time_til_dormant_autodelete_ms'];
  const others = ['autostop_requirement.weeks', 'max_port_share_level', 'use_classic_parameter_flow'];
  expect(status).toBe(400);
  expect(new Set(body.validations.map(({ field }: { field: string }) => field))).toEqual(
    new Set([...days, ...names, ...others]),
  );
  expect((await change({ disable_everyone_group_access: true })).status).toBe(400);
});

it('versions of a template are found by name, renamed, promoted, and archived unless they are in use', async () => {
  const template = await world.addTemplate();
  const added = async () => {
    const { id, name } = (await push({ template_id: template.id })).body;
    await finish(id);
    return { id, name, path: `/templateversions/${id}` };
  };
  const [first, second] = [await added(), await added()];
  expect((await push({ template_id: template.id, name: first.name })).status).toBe(409);
  const found = async (path: string) => (await world.call('GET', path)).body.id;
  expect(await found(`/templates/${template.id}/versions/${first.name.toUpperCase()}`)).toBe(first.id);
  const named = `/organizations/acme/templates/${template.name}/versions`;
  expect([await found(`${named}/${second.name}`), await found(`${named}/${second.name}/previous`)]).toEqual([
    second.id,
    first.id,
  ]);
  const [active] = (await world.call('GET', `/templates/${template.id}/versions?limit=1`)).body;
  expect([active.id, (await world.call('GET', `${named}/${active.name}/previous`)).status]).toEqual([
    template.activeVersionId,
    404,
  ]);
  const name = uniqueName('renamed');
  expect((await world.call('PATCH', first.path, { body: { name, message: 'm' } })).body).toMatchObject({
    name,
    message: 'm',
  });
  expect((await world.call('PATCH', second.path, { body: { name } })).status).toBe(409);
  expect((await world.call('GET', `/templates/${template.id}/versions/${first.name}`)).status).toBe(404);

  const promote = (id: string) => world.call('PATCH', `/templates/${template.id}/versions`, { body: { id } });
  const elsewhere = await world.addTemplate();
  const unfinished = (await push({ template_id: template.id })).body.id;
  expect((await promote(elsewhere.activeVersionId)).status).toBe(400);
  expect([(await promote(unfinished)).status, (await promote(crypto.randomUUID())).status]).toEqual([403, 404]);
  const used = await world.running(template);
  const archive = async (id: string) => messageOf(await world.call('POST', `/templateversions/${id}/archive`))[1];
  expect(await archive(template.activeVersionId)).toBe('Cannot archive the active template version');
  expect((await promote(second.id)).status).toBe(200);
  expect((await world.call('GET', `/templates/${template.id}`)).body.active_version_id).toBe(second.id);
  expect(await archive(template.activeVersionId)).toBe('Cannot archive a template version that is in use');
  expect((await world.call('GET', `/workspaces/${used}`)).body.outdated).toBe(true);

  const unused = async (all: boolean) =>
    (await world.call('POST', `/templates/${template.id}/versions/archive`, { body: { all } })).body.archived_ids;
  await finish(unfinished, planned, { status: 'errored' });
  expect([await unused(false), await unused(true), await unused(true)]).toEqual([[unfinished], [first.id], []]);
  expect(await archive(first.id)).toBe('Template version is already archived');
  expect(messageOf(await promote(first.id))).toEqual([400, 'The provided template version is archived.']);
  const listed = async (query: string) =>
    (await world.call('GET', `/templates/${template.id}/versions${query}`)).body.map((one: { id: string }) => one.id);
  expect(await listed('')).not.toContain(first.id);
  expect(await listed('?include_archived=true')).toContain(first.id);
  expect((await world.call('POST', `${first.path}/unarchive`)).body.archived).toBe(false);
  expect(await listed('')).toContain(first.id);
  const again = await world.call('POST', `${second.path}/unarchive`);
  expect(messageOf(again)).toEqual([400, 'Template version is already not archived']);
});

it('a change of a template restarts the times of its environments on request', async () => {
  const template = await world.addTemplate();
  const id = await world.running(template);
  expect((await world.call('PUT', `/workspaces/${id}/dormant`, { body: { dormant: true } })).status).toBe(200);
  const before = await world.environmentOf(id);
  const flags = { allow_user_autostart: true, allow_user_autostop: true };
  const changed = async (name: string) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    await world.call('PATCH', `/templates/${template.id}`, { body: { ...flags, [name]: true } });
    const { lastUsedAt, dormantAt } = await world.environmentOf(id);
    return [lastUsedAt !== before.lastUsedAt, dormantAt !== before.dormantAt];
  };
  expect(await changed('update_workspace_last_used_at')).toEqual([true, false]);
  expect(await changed('update_workspace_dormant_at')).toEqual([true, true]);
});

it('a template is deleted once no environment uses it, with its workspace', async () => {
  const template = await world.addTemplate();
  const id = await world.running(template);
  const path = `/templates/${template.id}`;
  expect((await world.call('DELETE', path)).status).toBe(400);
  await world.built(id, 'delete');
  expect((await world.call('DELETE', path)).status).toBe(200);
  expect((await world.call('GET', path)).status).toBe(404);
  const { getWorkspace } = await import('#resources/workspaces/records.ts');
  expect(await getWorkspace(template.workspaceId)).toBeUndefined();
  expect((await world.addTemplate({ name: template.name })).name, 'the name is free').toBe(template.name);
});

it('a template is deleted or an environment created from it, never both, at any call of the creation', async () => {
  const { aws } = world.api;
  for (let n = 0; ; n++) {
    const template = await world.addTemplate();
    const statuses: number[] = [];
    let left = n;
    aws.gate = async () => {
      if (left-- > 0) return;
      aws.gate = undefined;
      statuses.push((await world.call('DELETE', `/templates/${template.id}`)).status);
    };
    const created = await world.create(template);
    if (statuses.length === 0) break;
    expect([n, created.status < 500, ...statuses]).toEqual([n, true, created.status === 201 ? 400 : 200]);
    const { body } = await world.call('GET', `/workspaces?q=template:${template.name}`);
    expect([n, body.count]).toEqual([n, created.status === 201 ? 1 : 0]);
  }
  aws.gate = undefined;
});

it('templates and versions are changed by users who manage the project alone, and refusals are in the audit trail', async () => {
  const template = await world.addTemplate();
  const { id } = (await push()).body;
  await finish(id);
  const reader = await world.members.withLevel('acme', 'write');
  const stranger = await world.members.newUser('stranger-of-versions');
  const refusals: [string, string, object?][] = [
    ['PATCH', `/templates/${template.id}`, { name: 'x' }],
    ['DELETE', `/templates/${template.id}`],
    ['PATCH', `/templates/${template.id}/versions`, { id }],
    ['POST', `/templates/${template.id}/versions/archive`, {}],
    ['PATCH', `/templateversions/${template.activeVersionId}`, { name: 'x' }],
    ['POST', `/templateversions/${template.activeVersionId}/archive`],
    ['POST', '/organizations/acme/templates', { name: 'x', template_version_id: id }],
    ['POST', '/organizations/acme/templateversions', {}],
  ];
  for (const [method, path, body] of refusals) {
    expect((await world.call(method, path, { body, ...reader })).status, path).toBe(403);
    expect((await world.call(method, path, { body, ...stranger })).status, path).toBe(404);
  }
  expect((await world.call('GET', `/templateversions/${id}`, reader)).status, 'without a template').toBe(404);
  const { audit_logs: logs } = (await world.call('GET', `/audit?q=resource_id:${template.id}`)).body;
  const refused = logs.filter(({ status_code: status }: { status_code: number }) => status === 403);
  expect(refused).toHaveLength(4);
  const ofVersion = (await world.call('GET', `/audit?q=resource_id:${template.activeVersionId}`)).body.audit_logs;
  const described = ['archive', 'update'].map((action) => expect.stringContaining(`write ${action} template version`));
  expect(ofVersion.map(({ description }: { description: string }) => description).sort()).toEqual(described);
  expect((await createTemplate(id, { disable_everyone_group_access: true })).status).toBe(400);
});
