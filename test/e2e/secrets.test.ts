import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packFiles } from '../../functions/cli/archive.ts';
import { Client, isFinalRun, type Resource, until } from '../../functions/cli/client.ts';
import { archive, policyFiles } from '../support/policies.ts';
import { startTaskServer, status, type TaskServer } from '../support/task-server.ts';
import { Canaries } from './support/canaries.ts';
import { PlatformProcess } from './support/platform.ts';
import { descendants } from './support/processes.ts';
import { callBack } from './support/run-tasks.ts';

/** Plants secrets wherever one can be given, runs everything, and looks for them in all that the platform keeps and says. */

const canaries = new Canaries();
const elsewhere = mkdtempSync(join(tmpdir(), 'secrets-test-'));
const answers = join(elsewhere, 'answers.jsonl');
let platform: PlatformProcess;
let tasks: TaskServer;
let owner: Client;
beforeAll(async () => {
  [platform, tasks] = await Promise.all([
    PlatformProcess.start({ STEPFORM_RECORD: answers, TMPDIR: elsewhere }),
    startTaskServer(),
  ]);
  const { url, token } = platform.local;
  owner = new Client(url, token);
});
afterAll(async () => {
  await Promise.all([platform.remove(), tasks.close()]);
  rmSync(elsewhere, { recursive: true, force: true });
});

/** JSON, HTML, HCL and shells have to write these in their own ways. */
const awkward = (core: string) => `a"b\\c<${core}>&'%7Bä`;

const commands = new Set<string>();
const watchProcesses = () => {
  const timer = setInterval(() => {
    for (const { command } of descendants(platform.local.pid)) commands.add(command);
  }, 100);
  return () => clearInterval(timer);
};

const given = {
  TF_VAR: canaries.plant('variable', { written: awkward }),
  HCL: canaries.plant('HCL variable', { written: (core) => `{\n  password = "x\\"${core}"\n}` }),
  PHRASE: canaries.plant('phrase', { words: 4 }),
  LINES: canaries.plant('lines', { words: 2, written: (core) => `-----BEGIN KEY-----\n${core.replace(' ', '\n')}\n` }),
  ENV: canaries.plant('environment variable', { written: awkward }),
  OF_SET: canaries.plant('variable of a set'),
  ENV_OF_SET: canaries.plant('environment variable of a set'),
  HMAC: canaries.plant('HMAC key', { written: awkward }),
  PARAMETER: canaries.plant('parameter of a policy set'),
  CONFIGURED: canaries.plant('sensitive value of the configuration'),
};

const sensitive = true;
const declared = `variable "secret" {}
variable "object" { type = object({ password = string }) }
variable "phrase" {}
variable "lines" {}
variable "of_set" {}
locals { all = [var.secret, var.object.password, var.phrase, var.lines, var.of_set] }
output "configured" {
  value     = "${given.CONFIGURED}"
  sensitive = true
}`;

/** None of it is declared sensitive, and it is printed: the platform's word counts. */
const printing = (then: string) => `${declared}
resource "terraform_data" "a" {
  input = join(",", local.all)
  provisioner "local-exec" {
    command = "printf '%s\\\\n' \\"$ONE\\" \\"$TWO $PHRASE $LINES\\" $OF_SET \\"$ENV\\" $ENV_OF_SET; ${then}"
    environment = { ONE = var.secret, TWO = var.object.password, PHRASE = var.phrase, LINES = var.lines, OF_SET = var.of_set }
  }
}`;
const failing = `${declared}
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = var.secret == ""
      error_message = "It must not be any of these by no means whatever happens: \${join(" or even ", local.all)}"
    }
  }
}`;

const organizationHas = async (client: Client, organization: string): Promise<{ task: Resource }> => {
  const set = await client.create(`/organizations/${organization}/varsets`, 'varsets', {
    name: 'shared',
    global: true,
  });
  const vars = `/varsets/${set.id}/relationships/vars`;
  await client.create(vars, 'vars', { key: 'of_set', value: given.OF_SET, category: 'terraform', sensitive });
  await client.create(vars, 'vars', { key: 'ENV_OF_SET', value: given.ENV_OF_SET, category: 'env', sensitive });
  tasks.answer = async (request, response) => {
    status(200)(request, response);
    if (request.payload.access_token !== 'test-token') await callBack(request.payload, { status: 'passed' });
  };
  const attributes = { name: 'scan', url: tasks.url, category: 'task', 'hmac-key': given.HMAC };
  return { task: await client.create(`/organizations/${organization}/tasks`, 'tasks', attributes) };
};

const workspaceHas = async (client: Client, workspace: Resource): Promise<void> => {
  const variables = [
    { key: 'secret', value: given.TF_VAR },
    { key: 'object', value: given.HCL, hcl: true },
    { key: 'phrase', value: given.PHRASE },
    { key: 'lines', value: given.LINES },
    { key: 'ENV', value: given.ENV, category: 'env' },
  ];
  for (const variable of variables) await client.setVariable(workspace.id, { ...variable, sensitive });
};

/** Says what it was given. */
const attachPolicy = async (client: Client, organization: string, workspace: Resource): Promise<Resource> => {
  const set = await client.create(
    `/organizations/${organization}/policy-sets`,
    'policy-sets',
    { name: 'said', kind: 'opa' },
    { workspaces: { data: [{ type: 'workspaces', id: workspace.id }] } },
  );
  const parameter = { key: 'secret', value: given.PARAMETER, category: 'policy-set', sensitive };
  await client.create(`/policy-sets/${set.id}/parameters`, 'vars', parameter);
  const version = await client.create(`/policy-sets/${set.id}/versions`, 'policy-set-versions', {});
  const files = policyFiles('deny := [data.params.secret, to_number(data.params.secret)]', 'advisory');
  const body = new Uint8Array(await archive(files));
  expect((await fetch(String(version.links?.upload), { method: 'PUT', body })).status).toBe(200);
  expect((await client.get(`/policy-set-versions/${version.id}`)).attributes.status).toBe('ready');
  return set;
};

/** What is refused, is not kept and not repeated either. */
const refusals = async (client: Client, organization: string, workspace: Resource): Promise<void> => {
  const { url } = platform.local;
  const refused = (name: string) => canaries.plant(`refused: ${name}`);
  const vars = `/workspaces/${workspace.id}/vars`;
  const post = (path: string, attributes: object) => client.call('POST', path, { data: { type: 'x', attributes } });
  const bad = [
    post(vars, { key: 'k', category: refused('category'), value: refused('value'), sensitive }),
    post(vars, { key: `k ${refused('key')}`, category: 'env', value: refused('value of a bad key'), sensitive }),
    post(vars, { key: 'k', category: 'env', value: { nested: refused('object') }, sensitive }),
    post(`/organizations/${organization}/tasks`, {
      name: 'bad',
      url: `http://me:${refused('password in a URL')}@127.0.0.1/`,
      category: 'task',
      'hmac-key': refused('HMAC key'),
    }),
    new Client(url, `sfu_${refused('token')}`).get('/account/details'),
  ];
  for (const { status: how } of await Promise.allSettled(bad)) expect(how).toBe('rejected');
  const send = (path: string, type: string, body: string, headers = {}) =>
    fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': type, ...headers }, body });
  const authorization = `Bearer ${platform.local.token}`;
  const more = await Promise.all([
    send(`/api/v2${vars}`, 'application/vnd.api+json', `{"data": ${refused('broken body')}`, { authorization }),
    send('/oauth/token', 'application/x-www-form-urlencoded', `grant_type=authorization_code&code=${refused('code')}`),
    send(
      '/runner/v1/claim',
      'application/json',
      JSON.stringify({ claim: `run-x.plan.${refused('claim')}`, nonce: 'n' }),
    ),
    fetch(`${url}/logs/${refused('capability')}`),
  ]);
  for (const { ok } of more) expect(ok).toBe(false);
};

/** Everything that the API tells of it. */
const readAll = async (client: Client, organization: string, runs: Resource[], set: Resource): Promise<void> => {
  const { data: included = [] } = await client.call<Resource[]>(
    'GET',
    `/runs/${runs[0]?.id}/task-stages?include=task_results`,
  );
  const [evaluation] = await client.list(
    `/task-stages/${included.find(({ attributes }) => attributes.stage === 'post_plan')?.id}/policy-evaluations`,
  );
  const workspaceIds = runs.map(
    ({ relationships }) => (relationships?.workspace?.data as { id: string } | undefined)?.id,
  );
  const paths = [
    ...runs.flatMap(({ id }) =>
      ['', '/run-events', '/plan', '/apply', '/task-stages', '/comments'].map((of) => `/runs/${id}${of}`),
    ),
    ...workspaceIds.flatMap((id) =>
      ['', '/vars', '/all-vars', '/runs', '/varsets', '/tasks'].map((of) => `/workspaces/${id}${of}`),
    ),
    ...['current-state-version?include=outputs', 'current-state-version-outputs'].map(
      (of) => `/workspaces/${workspaceIds[0]}/${of}`,
    ),
    ...['varsets', 'tasks', 'policy-sets', 'workspaces'].map((of) => `/organizations/${organization}/${of}`),
    `/policy-sets/${set.id}/parameters`,
    `/policy-evaluations/${evaluation?.id}/policy-set-outcomes`,
    '/account/details',
  ];
  for (const path of paths) await client.call('GET', path);
};

it('a secret is nowhere but where Terraform itself needs it; a token is nowhere at all', async () => {
  const { url, organization, pid } = platform.local;
  const stopWatching = watchProcesses();
  const { data: me } = await owner.call('GET', '/account/details');
  const made = await owner.create(`/users/${me.id}/authentication-tokens`, 'authentication-tokens', {
    description: 'x',
  });
  const token = String(made.attributes.token);
  canaries.know('API token', token.slice('sfu_'.length));
  const client = new Client(url, token);

  const { task } = await organizationHas(client, organization);
  const workspaces = await Promise.all(
    ['applied', 'failed', 'canceled'].map((name) => client.createWorkspace(organization, name, { 'auto-apply': true })),
  );
  const [applied, failed, canceled] = workspaces as [Resource, Resource, Resource];
  for (const workspace of workspaces) await workspaceHas(client, workspace);
  await client.setVariable(applied.id, { key: 'TFC_WORKLOAD_IDENTITY_AUDIENCE', value: 'x', category: 'env' });
  const set = await attachPolicy(client, organization, applied);
  await client.create(
    `/workspaces/${applied.id}/tasks`,
    'workspace-tasks',
    { stages: ['post_plan'], 'enforcement-level': 'mandatory' },
    { task: { data: { type: 'tasks', id: task.id } } },
  );
  const start = async (workspace: Resource, main: string) => {
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': main }));
    return client.createRun(workspace.id, {}, version.id);
  };
  const runs = await Promise.all([
    start(applied, printing('true')),
    start(failed, failing),
    start(canceled, printing('sleep 60')),
    refusals(client, organization, applied),
  ]);
  const [one, two, three] = runs as unknown as Resource[] as [Resource, Resource, Resource];
  await client.waitForRun(three.id, ({ attributes }) => attributes.status === 'applying');
  const running = await client.phase(three, 'apply');
  await until(
    async () => (await fetch(`${running.attributes['log-read-url']}?limit=65536&offset=0`)).text(),
    (log) => log.split('(sensitive value)').length > 7,
    60_000,
  );
  await client.act(three.id, 'cancel');
  const ended = await Promise.all([one, two, three].map(({ id }) => client.waitForRun(id, isFinalRun)));
  expect(ended.map(({ attributes }) => attributes.status)).toEqual(['applied', 'errored', 'canceled']);
  // A runner has more to store when the run is over, and takes its folder along when it goes.
  await until(
    async () => descendants(pid).filter(({ command }) => command.includes('main.mjs')),
    (runners) => runners.length === 0,
    60_000,
  );
  await readAll(client, organization, ended, set);
  stopWatching();

  const found = [...foundIn('a command line', [...commands].join('\n'))];
  expect([...commands].some((command) => command.includes('terraform apply'))).toBe(true);
  for (const { path, bytes } of tasks.requests) found.push(...foundIn(`a request to the task (${path})`, bytes));
  expect(tasks.requests.length).toBeGreaterThan(1);
  found.push(...foundInAnswers());
  const table = await canaries.inTable(platform.local);
  found.push(...table.found.map(({ secret, place }) => `${secret}: the table, ${place}`));
  expect(table.items).toBeGreaterThan(100);
  const atRest = [platform.dataDir, elsewhere].flatMap((folder) =>
    canaries.inFolder(folder).map(({ secret, place }) => `${secret}: ${relative(folder, place)}`),
  );
  found.push(...atRest.filter((line) => !mayBe.some((places) => places.test(line))));
  expect(found).toEqual([]);
  // The search finds what is there.
  for (const places of mayBe) expect(atRest.filter((line) => places.test(line)).length).toBeGreaterThan(0);
});

/** Where secrets are by their nature. */
const mayBe = [
  // Terraform's own files have what Terraform was given. On AWS these objects are encrypted with the stack's key.
  /^((HCL )?variable( of a set)?|phrase|lines|sensitive value of the configuration): s3\/.*\/runs\/[^/]+\/plan\/plan(-json)?(?![\w-])/,
  /^((HCL )?variable( of a set)?|phrase|lines|sensitive value of the configuration): s3\/.*\/states\//,
  /^sensitive value of the configuration: s3\/.*\/configurations\//,
  // What `npm start` tells its owner.
  /^a token of a user: (local\.json|terraform\.rc|output\.txt)$/,
];

const foundIn = (place: string, content: string | Buffer): string[] =>
  canaries.in(Buffer.from(content)).map((secret) => `${secret}: ${place}`);

/** In what the API said, but for the one answer that a token is shown in. */
const foundInAnswers = (): string[] => {
  const lines = readFileSync(answers, 'utf8').trim().split('\n');
  rmSync(answers);
  expect(lines.length).toBeGreaterThan(50);
  return lines.flatMap((line) => {
    const { method, url } = JSON.parse(line) as { method: string; url: string };
    return method === 'POST' && url.endsWith('/authentication-tokens') ? [] : foundIn(`${method} ${url}`, line);
  });
};
