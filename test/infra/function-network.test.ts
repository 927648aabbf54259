import { expect, it } from 'vitest';
import { planSettings } from '#infra/deployment/settings-plan.ts';
import { readSettings } from '#infra/settings/settings.ts';
import { functionIds, functions } from '#infra/stack/functions.ts';
import { stackWith } from './stack-with.ts';
import { template } from './template.ts';

/** Functions that call out, in the operator's network. */

const network = { functionSubnetIds: 'subnet-1,subnet-2', functionSecurityGroupIds: 'sg-1' };
const callsOut = functionIds.filter((id) => functions[id].environment.includes('outbound')).sort();

interface Resource {
  Properties: Record<string, unknown>;
}
const resources: Record<string, Resource> = stackWith(network).template().toJSON().Resources;
const usual = template.Resources as Record<string, Resource>;

const rolesWith = (resources: Record<string, Resource>, action: string): string[] =>
  Object.entries(resources).flatMap(([id, { Properties }]) =>
    JSON.stringify(Properties?.Policies ?? '').includes(action) ? [id] : [],
  );

it('only the functions that call out are in it', () => {
  const placed = functionIds.filter((id) => resources[`${id}Function`]?.Properties.VpcConfig);
  expect(placed.sort()).toEqual(callsOut);
  expect(callsOut).toContain('RunTask');
  const config = { SubnetIds: ['subnet-1', 'subnet-2'], SecurityGroupIds: ['sg-1'] };
  expect(resources.RunTaskFunction?.Properties.VpcConfig).toEqual(config);
});

it('their roles may manage network interfaces, and their own code may not', () => {
  const roles = rolesWith(resources, 'ec2:CreateNetworkInterface');
  expect(roles).toHaveLength(callsOut.length);
  for (const id of roles) {
    const [{ PolicyDocument }] = (resources[id] as Resource).Properties.Policies as [
      { PolicyDocument: { Statement: { Effect: string; Action: string[]; Condition?: object }[] } },
    ];
    const [allowed, denied] = PolicyDocument.Statement.filter(({ Action }) =>
      [Action].flat().includes('ec2:CreateNetworkInterface'),
    );
    expect([allowed?.Effect, denied?.Effect]).toEqual(['Allow', 'Deny']);
    expect(denied?.Action).toEqual(allowed?.Action);
    expect(JSON.stringify(denied?.Condition)).toContain('lambda:SourceFunctionArn');
  }
});

it('without the settings no function is in a network, and no role has these rights', () => {
  expect(functionIds.filter((id) => usual[`${id}Function`]?.Properties.VpcConfig)).toEqual([]);
  expect(rolesWith(usual, 'ec2:')).toEqual([]);
});

it('one setting without the other is refused', () => {
  expect(() => readSettings({ functionSubnetIds: 'subnet-1' })).toThrow(
    'functionSubnetIds, functionSecurityGroupIds: set both, or neither',
  );
});

it('a deployment warns if private addresses are allowed but not reachable', () => {
  const plan = (given: object) => planSettings({ file: {}, given: { ...given }, reset: [] }).warnings;
  expect(plan({ outboundAllowedCidrs: '10.0.0.0/8' })).toEqual([
    'outboundAllowedCidrs has no effect without functionSubnetIds and functionSecurityGroupIds.',
  ]);
  expect(plan({ outboundAllowedCidrs: '10.0.0.0/8', ...network })).toEqual([]);
});
