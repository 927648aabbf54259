import { text } from 'node:stream/consumers';
import { runSimulation, runUnsafeSimulation, type Simulation } from '@cloud-copilot/iam-simulate';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Template } from '#infra/build/synth.ts';
import { rights } from '#infra/deployment/verify/checks/rights.ts';
import { Platform } from '#infra/deployment/verify/platform.ts';
import type { Target } from '#infra/deployment/verify/target.ts';
import { Stack } from '#infra/local/host/template.ts';
import { policiesOf } from '#test/e2e/support/foreign-iam.ts';
import { template, templates } from '#test/infra/template.ts';
import { serve } from '#test/support/serve.ts';

/** The check `rights` of `stepform verify`, with a foreign evaluator in place of IAM. */

const accountId = '000000000000';
const home = { accountId, region: 'us-east-1', stackName: 'Stepform', apiUrl: 'http://localhost' };
const chosen = /^(RunnersTaskRole|RunnersExecutionRole|PlanQueuedRole|NotifyRole|SweepRole)/;

/** With few of the roles: each is simulated on the resources of all. */
const deployed: Template[] = templates.map(({ template: whole }) => {
  const kept = Object.entries(structuredClone(whole.Resources)).flatMap(([id, resource]) => {
    if (resource.Type === 'AWS::IAM::Role' && !chosen.test(id)) return [];
    if (resource.Type !== 'AWS::IAM::Policy') return [[id, resource]];
    const roles = ((resource.Properties?.Roles ?? []) as { Ref: string }[]).filter(({ Ref }) => chosen.test(Ref));
    return roles.length ? [[id, { ...resource, Properties: { ...resource.Properties, Roles: roles } }]] : [];
  });
  return { ...whole, Resources: Object.fromEntries(kept) };
});
const local = new Stack(template, home);
const roleArn = (id: RegExp) => local.all('AWS::IAM::Role').find((role) => id.test(role.id))?.arn as string;

const stacks = deployed.map(({ Resources }, n) => ({
  name: n ? 'Stepform' : 'Stepform-Data',
  status: 'CREATE_COMPLETE',
  outputs: {},
  resources: Object.entries(Resources).map(([id, { Type: type }]) => ({ id, type, name: nameOf(id) })),
}));

function nameOf(id: string): string {
  try {
    return local.get(id).ref;
  } catch {
    return id;
  }
}

const target: Target = {
  kind: 'aws',
  title: '',
  caller: { region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 's' } },
  stacks: stacks.reverse(),
  apiUrl: home.apiUrl,
  environmentsUrl: '',
  stateMachineArn: local.one('AWS::StepFunctions::StateMachine').arn,
  bootstrapFunction: '',
  cluster: '',
  taskDefinition: 'runner',
  table: '',
  bucket: '',
  settings: {},
};

const escaped = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Statements of a role beside the template's. */
let byHand: Record<string, object[]>;
let throttled: number;
let calls: { resources: number; actions: number }[];
let without: RegExp;
const policies = policiesOf(local);

const simulated = async (query: URLSearchParams): Promise<string> => {
  const members = (name: string) => [...query].filter(([key]) => key.startsWith(`${name}.member.`));
  const actions = members('ActionNames').map(([, value]) => value);
  const resources = members('ResourceArns').map(([, value]) => value);
  const entries = members('ContextEntries');
  const values = (end: string) => entries.filter(([key]) => key.endsWith(end)).map(([, value]) => value);
  const types = values('ContextKeyType');
  const contextVariables = Object.fromEntries(
    values('ContextKeyName').map((key, n) => {
      const value = values('ContextKeyValues.member.1')[n] as string;
      return [key, types[n] === 'stringList' ? [value] : value];
    }),
  );
  const role = query.get('PolicySourceArn') as string;
  const policy = { Version: '2012-10-17', Statement: byHand[role] ?? [] };
  const identityPolicies = [
    ...(policies.identity.get(role) ?? []).filter(({ name }) => !without.test(name)),
    ...(byHand[role] ? [{ name: 'by hand', policy }] : []),
  ];
  calls.push({ resources: resources.length, actions: actions.length });
  const decide = async (action: string, resource: string): Promise<string> => {
    const simulation: Simulation = {
      request: { principal: role, action, resource: { resource, accountId }, contextVariables },
      identityPolicies,
      // The evaluator asks for a key's own policy, too.
      ...(action.startsWith('kms:') ? { resourcePolicy: policies.resource.get(resource) } : {}),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    };
    if (!action.startsWith('kms:'))
      return (await runUnsafeSimulation(simulation, {})) === 'Allowed' ? 'allowed' : 'implicitDeny';
    const result = await runSimulation(simulation, {});
    return result.resultType !== 'error' && result.overallResult === 'Allowed' ? 'allowed' : 'implicitDeny';
  };
  const results = actions.map(async (action) => {
    const each = resources.map(
      async (resource) =>
        `<member><EvalResourceName>${resource}</EvalResourceName><EvalResourceDecision>${await decide(action, resource)}</EvalResourceDecision><MatchedStatements/></member>`,
    );
    return `<member><EvalActionName>${action}</EvalActionName><EvalResourceName>${resources[0]}</EvalResourceName><EvalDecision>implicitDeny</EvalDecision><ResourceSpecificResults>${(await Promise.all(each)).join('')}</ResourceSpecificResults></member>`;
  });
  return `<EvaluationResults>${(await Promise.all(results)).join('')}</EvaluationResults><IsTruncated>false</IsTruncated>`;
};

const aws = await serve(async (request, response) => {
  const query = new URLSearchParams(await text(request));
  const action = query.get('Action');
  if (request.headers['x-amz-target']?.includes('DescribeTaskDefinition'))
    return response.end(JSON.stringify({ taskDefinition: { taskRoleArn: roleArn(/^RunnersTaskRole/) } }));
  if (action === 'GetTemplate') {
    const one = deployed[query.get('StackName') === 'Stepform' ? 1 : 0];
    return response.end(`<TemplateBody>${escaped(JSON.stringify(one))}</TemplateBody>`);
  }
  if (throttled-- > 0)
    return response.writeHead(400).end('<Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error>');
  return response.end(await simulated(query));
});

beforeEach(() => {
  byHand = {};
  throttled = 0;
  calls = [];
  without = /^$/;
  for (const [name, value] of Object.entries({
    AWS_ENDPOINT_URL: aws.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 's',
  }))
    vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

const check = () => rights.perform(new Platform(target));

it('finds the rights of the template, and only those, in bounded calls', async () => {
  throttled = 2;
  const { result, text, figures } = await check();
  expect({ result, text }).toMatchObject({
    result: 'ok',
    text: expect.stringMatching(/^5 roles: \d+ denied, \d+ allowed/),
  });
  expect(figures?.allowed).toBeGreaterThan(60);
  expect(figures?.denied).toBeGreaterThan(500);
  expect(calls.length / 5).toBeLessThan(12);
  expect(calls.filter(({ resources, actions }) => resources > 20 || actions > 100)).toEqual([]);
});

it('fails for a right that another role has', async () => {
  byHand[roleArn(/^RunnersTaskRole/)] = [{ Effect: 'Allow', Action: 'states:*', Resource: 'arn:aws:states:*' }];
  await expect(check()).rejects.toThrow(
    /^allowed, but not in the template: RunnersTaskRole\w+: states:\w+ on arn:aws:states:/,
  );
});

it('fails for a right without its condition, and for the administration of a resource', async () => {
  byHand[roleArn(/^PlanQueuedRole/)] = [{ Effect: 'Allow', Action: 'ecs:RunTask', Resource: '*' }];
  await expect(check()).rejects.toThrow(/PlanQueuedRole\w+: ecs:RunTask on /);
  byHand = { [roleArn(/^NotifyRole/)]: [{ Effect: 'Allow', Action: 'dynamodb:DeleteT*', Resource: '*' }] };
  await expect(check()).rejects.toThrow(/NotifyRole\w+: dynamodb:DeleteTable on /);
});

it('differs for a right that the role lost', async () => {
  without = /^Function$/;
  expect(await check()).toMatchObject({ result: 'differs', text: expect.stringContaining('denied, but allowed') });
});
