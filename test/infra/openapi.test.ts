import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { apiDescriptionFile } from '#infra/docs/generate.ts';
import { apiDescriptionText } from '#infra/docs/openapi/description.ts';
import type { Schema } from '#infra/docs/openapi/types.ts';
import { routes } from '#public-api/all-routes.ts';
import { type Answered, startApi } from '#test/support/api.ts';

/** The description of the API: current, valid, and true for responses. */

interface Operation {
  requestBody?: { content: Record<string, { schema?: Schema }> };
  'x-permission': string;
}

const file = readFileSync(join(process.cwd(), apiDescriptionFile), 'utf8');
const description = JSON.parse(file) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};
const { schemas } = description.components;
const api = await startApi();

it('is current: npm run docs', { timeout: 240_000 }, () => {
  expect(apiDescriptionText() === file).toBe(true);
});

it('is valid OpenAPI 3.1 and has every route', async () => {
  expect(await new Validator().validate(structuredClone(description) as never)).toEqual({ valid: true });
  const served = routes.filter(({ path }) => path.startsWith('/api/v2/'));
  for (const { method, path, access } of served) {
    const operation = description.paths[path.replaceAll('+}', '}')]?.[method.toLowerCase()];
    expect(operation?.['x-permission'], `${method} ${path}`).toBe(access);
  }
});

/** Also rejects attributes that the description lacks. */
const closed = (schema: Schema): Schema =>
  schema.type === 'object' && schema.properties ? { additionalProperties: false, ...schema } : schema;
const ajv = new Ajv2020({ strict: false, allErrors: true });
const problemsOf = (resource: { type: string; attributes?: object }): string[] => {
  const attributes = schemas[resource.type]?.properties?.attributes;
  if (!attributes) return resource.attributes ? [`${resource.type} is not described`] : [];
  if (!resource.attributes) return [];
  const validate = ajv.compile(closed(attributes));
  validate(resource.attributes);
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${resource.type}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
};

const wrong = ({ status, body }: Answered): string[] => {
  if (status === 204) return [];
  if (status >= 400) return [`${status} ${JSON.stringify(body)}`];
  return [body.data, body.included ?? []].flat().flatMap(problemsOf);
};

/** A resource of most subjects, created with what the description says. */
const created = async () => {
  const workspace = await api.workspace({ 'auto-apply': true });
  const configuration = await api.configuration(workspace.id);
  const project = (await api.post('organizations/acme/projects', { name: 'described' })).body.data;
  const team = (await api.post('organizations/acme/teams', { name: 'described' })).body.data;
  const run = await api.post(
    'runs',
    { message: 'described' },
    { workspace: { data: { type: 'workspaces', id: workspace.id } } },
  );
  return { workspace, configuration, project, team, run };
};

it('describes every attribute of responses', async () => {
  const { workspace, configuration, project, team, run } = await created();
  const answers = [
    run,
    await api.post(`workspaces/${workspace.id}/vars`, { key: 'size', value: '3', category: 'terraform' }),
    await api.post('organizations/acme/varsets', { name: 'described' }),
    await api.post('organizations/acme/ssh-keys', { name: 'described', value: 'key' }),
    await api.post('organizations/acme/policies', { name: 'described', kind: 'opa', query: 'data.x.deny' }),
    await api.post('organizations/acme/policy-sets', { name: 'described', kind: 'opa' }),
    await api.post('organizations/acme/agent-pools', { name: 'described' }),
    await api.post(`users/${api.userId}/authentication-tokens`, { description: 'described' }),
    ...(await Promise.all(
      [
        'organizations',
        'organizations/acme',
        'organizations/acme/entitlement-set',
        'organizations/acme/workspaces?include=current-run,project',
        'organizations/acme/projects',
        'organizations/acme/teams',
        'organizations/acme/organization-memberships?include=user',
        'organizations/acme/varsets',
        `workspaces/${workspace.id}`,
        `workspaces/${workspace.id}/runs?include=plan,apply`,
        `workspaces/${workspace.id}/vars`,
        `projects/${project.id}`,
        `teams/${team.id}`,
        `configuration-versions/${configuration.id}`,
        `runs/${run.body.data.id}?include=plan,apply,configuration-version,created-by`,
        `runs/${run.body.data.id}/run-events`,
        'account/details',
      ].map((path) => api.get(`/api/v2/${path}`)),
    )),
  ];
  expect(answers.length).toBeGreaterThan(20);
  expect(answers.flatMap(wrong)).toEqual([]);
});

it('describes bodies as they are validated, with the attributes of HCP Terraform that are refused', async () => {
  const attributesOf = (path: string, method: string) =>
    description.paths[`/api/v2${path}`]?.[method]?.requestBody?.content['application/vnd.api+json']?.schema?.properties
      ?.data?.properties?.attributes;
  const workspace = attributesOf('/organizations/{organization}/workspaces', 'post');
  expect(workspace).toMatchObject({ properties: { 'auto-apply': { type: ['null', 'boolean'] } } });
  const refused = workspace?.['x-refused'] ?? [];
  expect(refused.length).toBeGreaterThan(1);
  for (const name of refused) {
    const answer = await api.post('organizations/acme/workspaces', { name: 'refused', [name]: { any: 'value' } });
    expect(answer.status, name).toBe(422);
    expect(JSON.stringify(answer.body)).toContain(`${name}: cannot be set`);
  }
  for (const name of attributesOf('/organizations/{organization}/ssh-keys', 'post')?.required ?? []) {
    const others = { name: 'x', value: 'y', [name]: undefined };
    expect(JSON.stringify((await api.post('organizations/acme/ssh-keys', others)).body)).toContain(
      `${name}: is missing`,
    );
  }
});
