import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { related, relatedIds } from '#clients/client/client.ts';
import { providerFolder } from '#test/version-control/provider/binary.ts';
import { PlatformProcess } from './support/platform.ts';
import { startServer } from './support/run-tasks.ts';
import { Client, isFinalRun, type Resource } from './support/waiting.ts';
import { client, newName, platform as there } from './support/world.ts';

/** Moves an organization from one platform to another with the command line. */

const command = fileURLToPath(new URL('../../functions/clients/cli/stepform.mjs', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'stepform-import-'));
const organization = newName('moving');
const main = `variable "size" {
  type = number
}
variable "secret" {
  sensitive = true
}
resource "terraform_data" "a" {
  count = var.size
  input = nonsensitive(sha256(var.secret))
}
`;
let target: PlatformProcess;
let here: Client;
const workspaces: Record<string, Resource> = {};

const environment = () => ({
  PATH: process.env.PATH,
  HOME: home,
  TFE_ADDRESS: target.local.httpsUrl,
  SSL_CERT_FILE: target.local.caFile,
  TFE_TOKEN: target.local.token,
  STEPFORM_DATA: join(home, 'none'),
});
const stepform = (...words: string[]) => stepformWith({}, ...words);
const stepformWith = async (env: Record<string, string>, ...words: string[]) => {
  const child = spawn(process.execPath, [command, ...words], { env: { ...environment(), ...env } });
  child.stdin.end();
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, out, err };
};
const terminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;
/** In a terminal (util-linux), where the answer is typed when its question appears. */
const bringInTerminal = async (more: string, question: string, answer: string) => {
  const typed = `'${process.execPath}' '${command}' ${words().join(' ')} ${more}`;
  const child = spawn('script', ['--quiet', '--return', '--command', typed, '/dev/null'], { env: environment() });
  let out = '';
  child.stdout.on('data', (part) => {
    const before = out.includes(question);
    out += part;
    if (!before && out.includes(question)) child.stdin.write(`${answer}\r`);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, out: stripVTControlCharacters(out).replaceAll('\r\n', '\n') };
};
const words = (from = there.url, of = organization) => ['import', '--from', from, '--organization', of];
const bring = (...more: string[]) => stepform(...words(), ...more);

/** At the source, and at other hosts. */
const signIn = (others: Record<string, string>): void => {
  mkdirSync(join(home, '.terraform.d'), { recursive: true });
  const tokens = Object.entries({ [new URL(there.url).host]: there.token, ...others });
  const credentials = Object.fromEntries(tokens.map(([host, token]) => [host, { token }]));
  writeFileSync(join(home, '.terraform.d', 'credentials.tfrc.json'), JSON.stringify({ credentials }));
};

const at = (name: string) => `/organizations/${organization}/${name}`;
const ref = (type: string, id: string) => ({ data: { type, id } });
const run = async (of: Client, workspace: Resource, attributes = {}) => {
  const version = await of.upload(workspace.id, await packFiles({ 'main.tf': main }));
  const { id } = await of.createRun(workspace.id, attributes, version.id);
  return of.waitForRun(id, (one) => isFinalRun(one) || one.attributes.actions['is-confirmable']);
};

/** Resources that an import copies and that no other test here needs. */
const everythingElse = async (project: Resource): Promise<void> => {
  const { network, empty } = workspaces as { network: Resource; empty: Resource };
  const pool = await client.create(at('agent-pools'), 'agent-pools', { name: 'ours' });
  const agents = await client.create(
    at('workspaces'),
    'workspaces',
    { name: 'agents', 'execution-mode': 'agent', 'agent-pool-id': pool.id },
    { project: ref('projects', project.id) },
  );
  const remote = await client.create(
    at('projects'),
    'projects',
    { name: 'Remote', 'default-execution-mode': 'agent' },
    { 'default-agent-pool': ref('agent-pools', pool.id) },
  );
  await client.create(at('workspaces'), 'workspaces', { name: 'remote' }, { project: ref('projects', remote.id) });
  await client.createWorkspace(organization, 'desk', {
    'execution-mode': 'local',
    'auto-destroy-activity-duration': '14d',
  });
  const { url } = await startServer();
  const task = await client.create(at('tasks'), 'tasks', { name: 'scan', url, category: 'task' });
  await client.create(
    `/workspaces/${agents.id}/tasks`,
    'workspace-tasks',
    { 'enforcement-level': 'mandatory', stages: ['pre_apply'] },
    { task: ref('tasks', task.id) },
  );
  await client.create(`/workspaces/${network.id}/notification-configurations`, 'notification-configurations', {
    name: 'chat',
    'destination-type': 'generic',
    url: 'https://hooks.example.test/',
    triggers: ['run:errored'],
    enabled: false,
  });
  await client.call('POST', `/workspaces/${network.id}/relationships/remote-state-consumers`, {
    data: [ref('workspaces', empty.id).data],
  });
  await client.call('POST', `/workspaces/${empty.id}/relationships/remote-state-consumers`, {
    data: [ref('workspaces', network.id).data],
  });
  await client.create(
    `/workspaces/${empty.id}/run-triggers`,
    'run-triggers',
    {},
    { sourceable: ref('workspaces', network.id) },
  );
};

beforeAll(async () => {
  target = await PlatformProcess.start();
  here = new Client(target.local.url, target.local.token);
  signIn({});
  for (const one of [client, here]) {
    await one.create('/organizations', 'organizations', { name: organization, email: 'a@example.test' });
  }
  const project = await client.create(at('projects'), 'projects', {
    name: 'Platform',
    description: 'Ours',
    'auto-destroy-activity-duration': '30d',
  });
  const team = await client.create(at('teams'), 'teams', { name: 'builders', visibility: 'organization' });
  for (const name of ['network', 'empty']) {
    workspaces[name] = await client.create(
      at('workspaces'),
      'workspaces',
      {
        name,
        'auto-apply': name === 'network',
        'project-remote-state': name === 'network',
        description: `The ${name}`,
      },
      {
        project: ref('projects', project.id),
        'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'stage', value: 'prod' } }] },
      },
    );
  }
  const { network } = workspaces as { network: Resource };
  await client.setVariable(network.id, { key: 'size', value: '2', hcl: true });
  await client.setVariable(network.id, { key: 'secret', value: 'hunter2', sensitive: true });
  await client.setVariable(network.id, { key: 'TOKEN', value: 'hunter3', sensitive: true, category: 'env' });
  // Terraform has one name for both.
  await client.create(at('varsets'), 'varsets', { name: 'common-' }, { parent: ref('projects', project.id) });
  const set = await client.create(at('varsets'), 'varsets', { name: 'common' });
  await client.create(`/varsets/${set.id}/relationships/vars`, 'vars', { key: 'A', value: 'b', category: 'env' });
  await client.call('POST', `/varsets/${set.id}/relationships/workspaces`, {
    data: [ref('workspaces', network.id).data],
  });
  await client.create(
    '/team-workspaces',
    'team-workspaces',
    { access: 'write' },
    {
      team: ref('teams', team.id),
      workspace: ref('workspaces', network.id),
    },
  );
  await client.create(
    '/team-projects',
    'team-projects',
    { access: 'read' },
    {
      team: ref('teams', team.id),
      project: ref('projects', project.id),
    },
  );
  const policy = await client.create(at('policies'), 'policies', {
    name: 'no-friday',
    kind: 'opa',
    query: 'data.a.deny',
  });
  await client.put(`/policies/${policy.id}/upload`, 'package a\n\ndeny := []\n');
  await client.create(
    at('policy-sets'),
    'policy-sets',
    { name: 'rules', kind: 'opa' },
    {
      policies: { data: [ref('policies', policy.id).data] },
      workspaces: { data: [ref('workspaces', network.id).data] },
    },
  );
  await everythingElse(project);
  expect((await run(client, network)).attributes.status).toBe('applied');
}, 300_000);
afterAll(async () => {
  await target.remove();
  rmSync(home, { recursive: true });
});

const later = 'sensitive: give its value with --secrets or --ask';
const variables = [
  '+ variable network/terraform/size',
  `* variable network/terraform/secret: ${later}`,
  `* variable network/env/TOKEN: ${later}`,
];
const partsOf = (others: string[]) => [
  '+ notification network/chat',
  '* notification network/chat: disabled: set its token if it has one, and enable it',
  '+ state network: serial N',
  ...others,
  '~ workspace empty: workspaces: 1 added',
  '+ run trigger empty/network',
  '~ workspace network: workspaces: 1 added',
  '+ variable set common',
  '+ variable set common/env/A',
  '~ variable set common: workspaces: 1 added',
];

/** What an import of the whole organization does. */
const everything = [
  '+ agent pool ours',
  '* agent pool ours: connect agents to this pool',
  '+ project Platform',
  '+ project Remote',
  '+ team builders',
  '* team builders: invite the members',
  '+ run task scan',
  '* key of run task scan: set the HMAC key if the task has one',
  '+ workspace agents',
  '+ run task agents/scan',
  '+ workspace desk',
  '+ workspace empty',
  '+ workspace network',
  ...variables,
  '+ access of team builders to workspace network',
  ...partsOf(['+ workspace remote']),
  '+ variable set common-',
  '+ policy no-friday',
  '+ policy set rules',
  '~ policy set rules: policies: 1 added',
  '~ policy set rules: workspaces: 1 added',
  '+ access of team builders to project Platform',
  '',
];

it('a dry run of an import lists the changes, without making them', async () => {
  const { code, out, err } = await bring('--dry-run');
  const counts = '22 to create, 5 to change, 1 unchanged, 6 to do by hand, 0 failed';
  expect({ code, err }).toEqual({ code: 0, err: `${counts}. Nothing was written: this is a dry run\n` });
  expect(out.replace(/serial \d+/, 'serial N').split('\n')).toEqual(everything);
  expect((await here.list(at('workspaces'))).length).toBe(0);
});

/** At the target. */
const newOrganization = async (): Promise<string> => {
  const name = newName('empty');
  await here.create('/organizations', 'organizations', { name, email: 'a@example.test' });
  return name;
};

it('an import copies what its token may, uses what exists, and names the rest', async () => {
  const name = await newOrganization();
  const access = { 'manage-workspaces': true, 'read-projects': true };
  const team = await here.create(`/organizations/${name}/teams`, 'teams', { name: 't', 'organization-access': access });
  const { data } = await here.call('POST', `/teams/${team.id}/authentication-token`, {});
  const copy = async () => {
    const { code, out } = await stepformWith({ TFE_TOKEN: data.attributes.token }, ...words(), '--into', name);
    expect(code).toBe(1);
    // These reasons are the API's.
    const lines = out.replaceAll(/(?<=^! [^:]+): .+ permission .+/gm, '').replace(/serial \d+/, 'serial N');
    return lines.split('\n');
  };
  const pool = '* workspace agents: set its execution mode and agent pool, which was not copied';
  const project = (workspace: string) => `* workspace ${workspace}: move it to its project, which was not copied`;
  expect(await copy()).toEqual([
    '! agent pool ours',
    '! project Platform',
    '! project Remote',
    '! team builders',
    '! run task scan',
    '+ workspace agents',
    pool,
    project('agents'),
    '+ workspace desk',
    '+ workspace empty',
    project('empty'),
    '+ workspace network',
    project('network'),
    ...variables,
    ...partsOf(['+ workspace remote', project('remote')]),
    '! variable set common-: its project was not copied',
    '! policies',
    '',
  ]);
  await here.create(`/organizations/${name}/projects`, 'projects', { name: 'Platform', description: 'Theirs' });
  expect(await copy()).toEqual([
    '! agent pool ours',
    '! project Platform',
    '! project Remote',
    '! team builders',
    '! run task scan',
    // Only an admin of the project may move them.
    '! workspace agents',
    '! workspace empty',
    '! workspace network',
    project('remote'),
    '+ variable set common-',
    '! policies',
    '',
  ]);
});

it('an import ignores entries that are not resources in the responses of its source', async () => {
  const kept = { id: 'prj-kept', type: 'projects', attributes: { name: 'kept' } };
  const others = [null, 'text', {}, { ...kept, id: 1 }, { ...kept, type: undefined }, { ...kept, attributes: 'text' }];
  const source = createServer(({ url = '' }, response) => {
    const lists: Record<string, unknown> = { projects: [...others, kept], odd: { id: 'odd', type: 'organizations' } };
    response.end(JSON.stringify({ data: lists[url.replace(/\?.*/, '').split('/').at(-1) ?? ''] ?? [] }));
  });
  await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
  const from = `127.0.0.1:${(source.address() as AddressInfo).port}`;
  signIn({ [from]: 'theirs', 'tfe.example.test': 'theirs' });
  const into = ['--into', await newOrganization()];
  const imported = await stepform(...words(`http://${from}`, 'odd'), ...into);
  source.close();
  expect(imported).toEqual({
    code: 0,
    out: '+ project kept\n',
    err: '1 created, 0 changed, 0 unchanged, 0 to do by hand, 0 failed\n',
  });
  const overPlainHttp = [...words('http://tfe.example.test', 'odd'), ...into];
  expect(await stepform(...overPlainHttp)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^✗ --from: Your token would be sent to http:/),
  });
  const allowed = await stepformWith({ STEPFORM_PLAIN_HTTP_HOSTS: 'tfe.example.test' }, ...overPlainHttp);
  expect(allowed).toMatchObject({ code: 1, err: expect.stringContaining('--from needs https') });
});

it('an import of one workspace copies what it uses, and nothing else', async () => {
  const items = async (name: string) => {
    const { out } = await bring('--dry-run', '--workspace', name);
    return [
      ...new Set(out.match(/(?<=^\+ )(agent pool|project|team|variable set|policy set|policy|workspace) [\w-]+/gm)),
    ];
  };
  const both = ['project Platform', 'team builders'];
  expect(await items('agents')).toEqual(['agent pool ours', ...both, 'workspace agents']);
  expect(await items('network')).toEqual([
    ...both,
    'workspace network',
    'variable set common',
    'policy no-friday',
    'policy set rules',
  ]);
});

it('an import copies everything possible, names the rest, and changes nothing when repeated', async () => {
  const first = await bring();
  expect(first).toMatchObject({ code: 0, err: '22 created, 5 changed, 1 unchanged, 6 to do by hand, 0 failed\n' });
  expect(first.out.replace(/serial \d+/, 'serial N').split('\n')).toEqual(everything);
  const [network, empty] = [await here.get(`${at('workspaces')}/network`), await here.get(`${at('workspaces')}/empty`)];
  for (const name of ['auto-apply', 'project-remote-state'])
    expect([name, network.attributes[name], empty.attributes[name]]).toEqual([name, true, false]);
  expect(network.attributes.tags).toEqual([{ key: 'stage', value: 'prod', plain: false }]);
  const stateOf = async (of: Client, id: string | undefined): Promise<string> => {
    const version = await of.get(`/workspaces/${id}/current-state-version`);
    return (await of.content(`/state-versions/${version.id}/download`)).text();
  };
  expect(await stateOf(here, network.id)).toBe(await stateOf(client, workspaces.network?.id));
  expect(network.attributes.locked).toBe(false);
  const agents = await here.get(`${at('workspaces')}/agents`);
  expect(agents.attributes['execution-mode']).toBe('agent');
  const remote = await here.get(`${at('workspaces')}/remote`);
  expect(remote.attributes).toMatchObject({
    'execution-mode': 'agent',
    'setting-overwrites': { 'execution-mode': false, 'agent-pool': false },
  });
  expect(related(remote, 'agent-pool')).toBe(related(agents, 'agent-pool'));
  const [task] = await here.list(`/workspaces/${agents.id}/tasks`);
  expect(task?.attributes).toMatchObject({ 'enforcement-level': 'mandatory', stages: ['pre_apply'] });
  const consumers = await here.list(`/workspaces/${network.id}/relationships/remote-state-consumers`);
  expect(consumers.map(({ id }) => id)).toEqual([empty.id]);
  expect(network.attributes['inherits-project-auto-destroy']).toBe(true);
  const desk = await here.get(`${at('workspaces')}/desk`);
  expect(desk.attributes).toMatchObject({ 'execution-mode': 'local', 'auto-destroy-activity-duration': '14d' });
  expect(desk.relationships?.project?.data).not.toEqual(network.relationships?.project?.data);
  const sets = await here.list(`/workspaces/${network.id}/varsets`);
  expect(sets.map(({ attributes }) => attributes.name)).toEqual(['common']);
  const accessTo = async (kind: 'workspace' | 'project', id = '') =>
    (await here.list(`/team-${kind}s?filter[${kind}][id]=${id}`)).map(({ attributes }) => attributes.access);
  expect(await accessTo('workspace', network.id)).toEqual(['write']);
  expect(await accessTo('project', related(network, 'project'))).toEqual(['read']);
  const [policySet] = await here.list(at('policy-sets'));
  expect(relatedIds(policySet as Resource, 'workspaces')).toEqual([network.id]);
  const [policyId] = relatedIds(policySet as Resource, 'policies');
  expect(await (await here.content(`/policies/${policyId}/download`)).text()).toBe('package a\n\ndeny := []\n');

  writeFileSync(join(home, 'secrets.json'), JSON.stringify({ 'variable network/terraform/secret': 'hunter2' }));
  const secrets = join(home, 'secrets.json');
  const second = await bring('--secrets', secrets);
  expect(second.out.split('\n')).toEqual([
    '+ variable network/terraform/secret',
    '* variable network/env/TOKEN: sensitive: give its value with --secrets or --ask',
    '',
  ]);
  const counts = /^1 created, 0 changed, 22 unchanged, 1 to do by hand, 0 failed\n$/;
  expect(second).toMatchObject({ code: 0, err: expect.stringMatching(counts) });
  const question = 'Value of variable network/env/TOKEN (not shown, Enter for later): ';
  const done = '+ variable network/env/TOKEN\n1 created, 0 changed, 23 unchanged, 0 to do by hand, 0 failed\n';
  if (terminal)
    expect(await bringInTerminal('--ask', question, 'hunter3')).toEqual({ code: 0, out: `${question}\n${done}` });
  else await here.setVariable(network.id, { key: 'TOKEN', value: 'hunter3', sensitive: true, category: 'env' });

  const planned = await run(here, network, { 'plan-only': true });
  expect(planned.attributes['has-changes']).toBe(false);
  expect(planned.attributes.status).toBe('planned_and_finished');
}, 300_000);

it('an import follows the source until something is applied at the target', async () => {
  const { network } = workspaces as { network: Resource };
  const variables = await client.list(`/workspaces/${network.id}/vars`);
  const size = variables.find(({ attributes }) => attributes.key === 'size');
  await client.call('PATCH', `/workspaces/${network.id}/vars/${size?.id}`, {
    data: { type: 'vars', attributes: { value: '3' } },
  });
  const tags = { data: [{ type: 'tag-bindings', attributes: { key: 'area', value: 'network' } }] };
  await client.call('PATCH', `/projects/${related(network, 'project')}`, {
    data: { type: 'projects', relationships: { 'tag-bindings': tags } },
  });
  expect((await run(client, network)).attributes.status).toBe('applied');
  const followed = await bring();
  expect(followed.out.split('\n').filter(Boolean)).toEqual([
    '~ project Platform: tags',
    '~ variable network/terraform/size: value',
    expect.stringMatching(/^~ state network: serial \d+$/),
  ]);
  const copy = await here.get(`${at('workspaces')}/network`);
  await here.setVariable(copy.id, { key: 'TF_LOG', value: '', category: 'env' });
  const applied = await run(here, copy, { 'is-destroy': true });
  expect(applied.attributes.status).toBe('applied');
  const after = await bring('--workspace', 'network');
  expect({ code: after.code, out: after.out }).toEqual({ code: 0, out: '' });
}, 300_000);

it('an import names the run that prevents copying a state, and continues with the others', async () => {
  const { empty } = workspaces as { empty: Resource };
  await client.setVariable(empty.id, { key: 'size', value: '1' });
  await client.setVariable(empty.id, { key: 'secret', value: 'a' });
  const first = await run(client, empty);
  await client.act(first.id, 'apply');
  await client.waitForRun(first.id, isFinalRun);
  await client.setVariable(empty.id, { key: 'unused', value: 'a' });
  const waiting = await run(client, empty, { 'is-destroy': true });
  const { code, out } = await bring();
  expect(code).toBe(1);
  expect(out.split('\n')).toEqual([
    '* workspace empty: locked at the source: lock it here too if needed',
    ...['size', 'secret', 'unused'].map((name) => `+ variable empty/terraform/${name}`),
    `! state empty: not copied, because run ${waiting.id} is planned at the source. Import again when it has finished`,
    '',
  ]);
  await client.act(waiting.id, 'discard');
  await client.waitForRun(waiting.id, isFinalRun);
  const again = await bring();
  expect({ code: again.code, out: again.out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^\+ state empty: serial \d+\n$/),
  });
}, 300_000);

it('an export is configuration for the tfe provider that Terraform accepts, without secrets', async () => {
  const [pool] = await here.list(at('agent-pools'));
  await here.call('PATCH', `/organizations/${organization}`, {
    data: {
      type: 'organizations',
      attributes: { 'default-execution-mode': 'agent' },
      relationships: { 'default-agent-pool': ref('agent-pools', pool?.id ?? '') },
    },
  });
  const noted = await bring('--dry-run');
  expect(noted.out).toBe(
    '* organization: default execution mode remote at the source, agent here: change it if needed\n',
  );
  const folder = join(home, 'exported');
  // The user's own certificate authority is trusted beside the usual ones.
  const authorities = { NODE_EXTRA_CA_CERTS: target.local.caFile, SSL_CERT_FILE: there.caFile ?? target.local.caFile };
  const { code, out, err } = await stepformWith(authorities, 'export', folder, '--organization', organization);
  expect({ code, err }).toEqual({
    code: 0,
    err: `Wrote 36 resources and 2 variables for secrets to ${folder}. Next: stepform export --help\n`,
  });
  expect(out.split('\n')).toEqual([
    '* run task scan: set hmac_key if it has one',
    '* workspace network: remote state consumers are not exported, because the tfe provider does not allow them with project_remote_state',
    '* notification network/chat: set token if it has one',
    '',
  ]);
  const formatted = spawnSync('terraform', ['fmt', '-check', '-recursive', '-diff'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: home },
    encoding: 'utf8',
  });
  expect({ code: formatted.status, out: formatted.stdout + formatted.stderr }).toEqual({ code: 0, out: '' });
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) => one.includes('.'));
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const everything = files.map(read).join('');
  expect(everything).not.toContain('hunter2');
  expect(everything).toMatch(/ triggers += \["run:errored"\]\n/);
  expect(read('policies/no_friday.rego')).toBe('package a\n\ndeny := []\n');
  const resources = files
    .filter((one) => one.endsWith('.tf'))
    .flatMap((one) => [...read(one).matchAll(/^resource /gm)]);
  const imported = [...read('imports.tf').matchAll(/^ {2}to += (.+)$/gm)].map(([, name]) => name);
  expect(new Set(imported).size).toBe(resources.length);
  expect(read('workspaces.tf')).toMatch(/tags += { stage = "prod" }/);
  expect(read('workspaces.tf')).toMatch(/project_remote_state += true/);
  expect(read('workspaces.tf')).toMatch(/remote_state_consumer_ids += \[tfe_workspace\.network\.id\]/);
  expect(read('workspaces.tf')).toMatch(/agent_pool_id += tfe_agent_pool\.ours\.id/);
  const defaults = 'default_execution_mode = "agent"\n  default_agent_pool_id  = tfe_agent_pool.ours.id\n';
  expect(read('projects.tf')).toContain(`  project_id             = tfe_project.remote.id\n  ${defaults}`);
  expect(read('organization.tf')).toContain(`  organization           = "${organization}"\n  ${defaults}`);
  expect(read('variable-sets.tf')).toMatch(
    /name += "common-"\n(.*\n)*? +parent_project_id += tfe_project\.platform\.id\n/,
  );
  // The others inherit theirs.
  const ends = [...read('workspaces.tf').matchAll(/auto_destroy_\w+ += (.*)/g)].map(([, value]) => value);
  expect(ends).toEqual(['"14d"']);
  expect(read('variables.tf')).toContain('  value        = var.network_secret\n');
  const again = await stepform('export', folder, '--organization', organization);
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining('is not empty') });
}, 60_000);

const provider = providerFolder();

it.skipIf(!provider)(
  'the tfe provider imports it without changes',
  async () => {
    const { caFile, httpsUrl, token } = target.local;
    const folder = join(home, 'planned');
    const config = join(home, 'planned.tfrc');
    writeFileSync(
      config,
      `provider_installation {\n  dev_overrides {\n    "hashicorp/tfe" = "${provider}"\n  }\n  direct {}\n}\n`,
    );
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      SSL_CERT_FILE: caFile,
      TF_CLI_CONFIG_FILE: config,
      TFE_TOKEN: token,
    };
    const words = [command, 'export', folder, '--organization', organization, '--host', httpsUrl];
    const exported = spawnSync(process.execPath, words, {
      env: { ...env, STEPFORM_DATA: join(home, 'none') },
      encoding: 'utf8',
    });
    expect({ code: exported.status, err: exported.stderr }).toMatchObject({ code: 0 });
    const terraform = (...args: string[]) =>
      spawnSync('terraform', [...args, '-no-color'], {
        cwd: folder,
        env: { ...env, TF_VAR_network_secret: 'x', TF_VAR_network_env_token: 'x' },
        encoding: 'utf8',
      });
    expect(terraform('validate')).toMatchObject({ status: 0 });
    const planned = terraform('plan', '-input=false');
    expect(planned.stdout + planned.stderr).toMatch(/Plan: \d+ to import, 0 to add, 2 to change, 0 to destroy\./);
  },
  120_000,
);
