import { describe, expect, it } from 'vitest';
import { routesOf, template } from '#test/infra/template.ts';
import { leaveOut } from './left-out.ts';
import { expandApis } from './openapi.ts';

describe('the deployment to an emulator', () => {
  it('leaves out alarms on expressions, and nothing else', () => {
    const copy = structuredClone(template);
    const leftOut = leaveOut(copy);
    expect(leftOut.length).toBeGreaterThan(0);
    expect(Object.keys(copy.Resources).length).toBe(Object.keys(template.Resources).length - leftOut.length);
    expect(leftOut.map((id) => template.Resources[id]?.Type)).toEqual(leftOut.map(() => 'AWS::CloudWatch::Alarm'));
  });

  it('turns the documents of HTTP APIs into one route for each key', () => {
    const copy = structuredClone(template);
    expandApis(copy);
    const keys = (api: string) =>
      Object.entries(copy.Resources)
        .filter(([id, { Type }]) => id.startsWith(api) && Type === 'AWS::ApiGatewayV2::Route')
        .map(([, { Properties }]) => Properties?.RouteKey);
    expect(keys('HttpApi').sort()).toEqual(Object.keys(routesOf('HttpApi')).sort());
    expect(keys('EnvironmentApi').sort()).toEqual(['$connect', ...Object.keys(routesOf('EnvironmentApi'))].sort());
    const text = JSON.stringify(copy);
    expect(text).not.toContain('stageVariables');
    expect(text).toContain('":function:",{"Ref":"RunsFunction"},"/invocations"');
  });
});
