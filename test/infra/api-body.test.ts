import { Template } from 'aws-cdk-lib/assertions';
import { CfnApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Stack } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { apiBody } from '#infra/stack/api-body.ts';
import type { HttpDeclaration } from '#infra/stack/declaration.ts';
import { type HttpFunction, httpFunctionIds, httpFunctions } from '#infra/stack/functions.ts';
import { httpStage } from '#infra/stack/http-stage.ts';
import { readable, resources, template } from './template.ts';

const routes = [
  { key: 'ANY /runs/{run}/{proxy+}', target: 'Runs' },
  { key: 'GET /runs/{run}/{proxy+}', target: 'Logs' },
  { key: '$default', target: 'Runs' },
];
const body = (all = routes) =>
  new Stack().resolve(apiBody({ title: 'Test', description: 'of a test', routes: all, roleArn: 'arn:role' }));

describe('the document of an HTTP API', () => {
  it('has an operation for each route key', () => {
    const { paths } = body();
    expect(Object.keys(paths)).toEqual(['/runs/{run}/{proxy+}', '/$default']);
    expect(Object.keys(paths['/runs/{run}/{proxy+}'])).toEqual(['x-amazon-apigateway-any-method', 'get', 'parameters']);
    expect(paths['/$default']['x-amazon-apigateway-any-method'].isDefaultRoute).toBe(true);
    expect(paths['/runs/{run}/{proxy+}'].get['x-amazon-apigateway-integration']).toEqual({
      $ref: '#/components/x-amazon-apigateway-integrations/Logs',
    });
  });

  it('declares the parameters of a path, as API Gateway exports them', () => {
    const names = body().paths['/runs/{run}/{proxy+}'].parameters.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['run', 'proxy+']);
  });

  it('has one integration for each function, which names it by a stage variable', () => {
    const integrations = body().components['x-amazon-apigateway-integrations'];
    expect(Object.keys(integrations)).toEqual(['Runs', 'Logs']);
    expect(integrations.Runs).toMatchObject({
      type: 'aws_proxy',
      payloadFormatVersion: '2.0',
      timeoutInMillis: 30_000,
      credentials: 'arn:role',
    });
    expect(readable(integrations.Runs.uri)).toMatch(/:function:\$\{stageVariables\.Runs\}\/invocations$/);
  });

  it('needs no function, so that functions can know the URL', () => {
    const apis = resources('AWS::ApiGatewayV2::Api').filter(({ Properties }) => Properties.Body !== undefined);
    expect(apis).toHaveLength(2);
    for (const { id, Properties } of apis) expect(JSON.stringify(Properties), id).not.toMatch(/"\w+Function"/);
  });

  it('has no authorizer, for a stated reason', () => {
    for (const id of httpFunctionIds) expect(reason(id).length, id).toBeGreaterThan(25);
    expect(JSON.stringify(template)).not.toContain('securitySchemes');
  });
});

const reason = (id: HttpFunction): string => (httpFunctions[id] as HttpDeclaration).http.authorization;

describe('the stage of an HTTP API', () => {
  const stages = resources('AWS::ApiGatewayV2::Stage').filter(({ Properties }) => Properties.StageVariables);

  it('gets routes, functions and limits in one call', () => {
    expect(stages).toHaveLength(2);
    for (const { id, Properties } of stages) {
      expect(Properties.AutoDeploy, id).toBeUndefined();
      const { Ref: deployment } = Properties.DeploymentId as { Ref: string };
      expect(template.Resources[deployment]?.Properties?.ApiId, id).toEqual(Properties.ApiId);
    }
  });

  it('has a variable for each integration of its API', () => {
    for (const { id, Properties } of stages) {
      const { Ref: api } = Properties.ApiId as { Ref: string };
      const text = JSON.stringify(template.Resources[api]);
      const named = [...text.matchAll(/stageVariables\.(\w+)/g)].map(([, name]) => name);
      const variables = Object.entries(Properties.StageVariables as Record<string, { Ref: string }>);
      expect(variables.map(([name]) => name).sort(), id).toEqual([...new Set(named)].sort());
      for (const [name, { Ref }] of variables) expect(Ref).toBe(`${name}Function`);
    }
  });

  it('waits until API Gateway may invoke its functions', () => {
    const policy = resources('AWS::IAM::Policy').find(({ id }) => id.startsWith('ApiInvoker'));
    expect(policy).toBeDefined();
    for (const stage of resources('AWS::ApiGatewayV2::Stage')) expect(stage.DependsOn, stage.id).toContain(policy?.id);
  });

  it('has a new deployment only if the document changes', () => {
    const deployment = (all = routes) => {
      const stack = new Stack();
      httpStage(stack, 'Stage', {
        api: new CfnApi(stack, 'Api', { body: body(all) }),
        targets: {},
        accessLog: new LogGroup(stack, 'Log'),
        logFormat: {},
        limit: { rate: 1, burst: 1 },
        invocation: new LogGroup(stack, 'Invocation'),
      });
      return Object.keys(Template.fromStack(stack).findResources('AWS::ApiGatewayV2::Deployment'));
    };
    expect(deployment()).toEqual(deployment());
    expect(deployment()).not.toEqual(deployment(routes.slice(1)));
  });
});
