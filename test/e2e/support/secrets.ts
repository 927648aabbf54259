import { expect } from 'vitest';
import { Client, type Resource } from '#clients/client/client.ts';
import { archive, policyFiles } from '#test/support/policies.ts';
import { status, type TaskServer } from '#test/support/task-server.ts';
import { Canaries } from './canaries.ts';
import type { Local } from './platform.ts';
import { callBack } from './run-tasks.ts';

/** Every input for secrets, with one secret for each. */

export const canaries = new Canaries();

/** JSON, HTML, HCL and shells escape these differently. */
const awkward = (core: string) => `a"b\\c<${core}>&'%7Bä`;

const values = {
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
  value     = "${values.CONFIGURED}"
  sensitive = true
}`;

/** Prints undeclared sensitive values: only the platform marks them as sensitive. */
export const printing = (then: string) => `${declared}
resource "terraform_data" "a" {
  input = join(",", local.all)
  provisioner "local-exec" {
    command = "printf '%s\\\\n' \\"$ONE\\" \\"$TWO $PHRASE $LINES\\" $OF_SET \\"$ENV\\" $ENV_OF_SET; ${then}"
    environment = { ONE = var.secret, TWO = var.object.password, PHRASE = var.phrase, LINES = var.lines, OF_SET = var.of_set }
  }
}`;
export const failing = `${declared}
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = var.secret == ""
      error_message = "It must not be any of these under no circumstances, ever: \${join(" or even ", local.all)}"
    }
  }
}`;

export const organizationHas = async (
  client: Client,
  organization: string,
  tasks: TaskServer,
): Promise<{ task: Resource }> => {
  const set = await client.create(`/organizations/${organization}/varsets`, 'varsets', {
    name: 'shared',
    global: true,
  });
  const vars = `/varsets/${set.id}/relationships/vars`;
  await Promise.all([
    client.create(vars, 'vars', { key: 'of_set', value: values.OF_SET, category: 'terraform', sensitive }),
    client.create(vars, 'vars', { key: 'ENV_OF_SET', value: values.ENV_OF_SET, category: 'env', sensitive }),
  ]);
  tasks.answer = async (request, response) => {
    status(200)(request, response);
    if (request.payload.access_token !== 'test-token') await callBack(request.payload, { status: 'passed' });
  };
  const attributes = { name: 'scan', url: tasks.url, category: 'task', 'hmac-key': values.HMAC };
  return { task: await client.create(`/organizations/${organization}/tasks`, 'tasks', attributes) };
};

export const workspaceHas = async (client: Client, workspace: Resource): Promise<void> => {
  const variables = [
    { key: 'secret', value: values.TF_VAR },
    { key: 'object', value: values.HCL, hcl: true },
    { key: 'phrase', value: values.PHRASE },
    { key: 'lines', value: values.LINES },
    { key: 'ENV', value: values.ENV, category: 'env' },
  ];
  await Promise.all(variables.map((variable) => client.setVariable(workspace.id, { ...variable, sensitive })));
};

/** Attaches a policy that returns its parameter. */
export const attachPolicy = async (client: Client, organization: string, workspace: Resource): Promise<Resource> => {
  const set = await client.create(
    `/organizations/${organization}/policy-sets`,
    'policy-sets',
    { name: 'said', kind: 'opa' },
    { workspaces: { data: [{ type: 'workspaces', id: workspace.id }] } },
  );
  const parameter = { key: 'secret', value: values.PARAMETER, category: 'policy-set', sensitive };
  await client.create(`/policy-sets/${set.id}/parameters`, 'vars', parameter);
  const version = await client.create(`/policy-sets/${set.id}/versions`, 'policy-set-versions', {});
  const files = policyFiles('deny := [data.params.secret, to_number(data.params.secret)]', 'advisory');
  const body = new Uint8Array(await archive(files));
  expect((await fetch(String(version.links?.upload), { method: 'PUT', body })).status).toBe(200);
  expect((await client.get(`/policy-set-versions/${version.id}`)).attributes.status).toBe('ready');
  return set;
};

/** Sends invalid requests with secrets, which must be neither stored nor repeated. */
export const refusals = async (client: Client, workspace: Resource, local: Local): Promise<void> => {
  const { url, organization } = local;
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
  const authorization = `Bearer ${local.token}`;
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

/** Reads everything that the API returns about it. */
export const readAll = async (client: Client, organization: string, runs: Resource[], set: Resource): Promise<void> => {
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
  await Promise.all(paths.map((path) => client.call('GET', path)));
};
