import { describe, expect, it } from 'vitest';
import { planSettings, type SettingSources } from '#infra/deployment/settings-plan.ts';
import { readSettings, settingText } from '#infra/settings/settings.ts';

const now = Date.parse('2026-05-10T12:00:00Z');
const weekAgo = '2026-05-03T12:00:00Z';
const plan = (
  deployed: Record<string, unknown> | undefined,
  given: Record<string, unknown> = {},
  { updatedAt = weekAgo, ...more }: Partial<SettingSources> & { updatedAt?: string } = {},
) =>
  planSettings(
    { deployed: deployed && { settings: deployed, updatedAt, dataFormat: 3 }, file: {}, given, reset: [], ...more },
    now,
  );

const network = { vpcId: 'vpc-0a1b2c3d', subnetIds: ['subnet-0a1b2c3d'] };

describe('settings of a deployment', () => {
  it('are kept when the command line does not give them', () => {
    const { chosen, kept, changed } = plan({ ...network, readySeconds: 60 }, { readySeconds: '30' });
    expect(chosen).toEqual({ ...network, readySeconds: 30 });
    expect(kept).toEqual(['subnetIds', 'vpcId']);
    expect(changed).toEqual([{ name: 'readySeconds', from: '60', to: '30', sensitive: false }]);
  });

  it('do not change when the command line repeats them as text', () => {
    expect(plan(network, { vpcId: network.vpcId, subnetIds: 'subnet-0a1b2c3d' }).changed).toEqual([]);
  });

  it('return to their default with a reset, which is a change', () => {
    const { chosen, changed } = plan({ alarmEmail: 'ops@example.com' }, {}, { reset: ['alarmEmail'] });
    expect(chosen).toEqual({});
    expect(changed).toEqual([{ name: 'alarmEmail', from: '"ops@example.com"', to: undefined, sensitive: true }]);
  });

  it('come from cdk.json before the deployed ones, and from the command line before both', () => {
    const file = { readySeconds: 30, '@aws-cdk/core:x': true };
    expect(plan({ readySeconds: 60 }, {}, { file }).chosen).toEqual({ readySeconds: 30 });
    const { chosen, warnings } = plan({ readySeconds: 60 }, { readySeconds: '10' }, { file });
    expect(chosen).toEqual({ readySeconds: 10 });
    expect(warnings).toEqual([expect.stringContaining('cdk.json sets readySeconds to 30')]);
  });

  it('of a first deployment are no changes', () => {
    expect(plan(undefined, { removalPolicy: 'destroy' })).toMatchObject({
      chosen: { removalPolicy: 'destroy' },
      changed: [],
    });
  });

  it.each([
    [{}, { removalPolicy: 'destroy' }],
    [{}, { runRetentionDays: '90' }],
    [{ signInIssuer: 'https://a.example.com', signInClientId: 'a' }, { signInIssuer: 'https://b.example.com' }],
    [{}, { outboundAllowedCidrs: '10.0.0.0/8' }],
    [{}, { runnerArchitecture: 'arm64' }],
    [{}, { organizationCreators: 'operator' }],
  ])('need a confirmation where they affect security or existing data: %j, then %j', (deployed, given) => {
    expect(plan(deployed, given).changed).toEqual([expect.objectContaining({ sensitive: true })]);
  });

  it('need no confirmation when the new value equals the default', () => {
    expect(plan({}, { removalPolicy: 'retain' }).changed).toEqual([
      { name: 'removalPolicy', from: undefined, to: '"retain"', sensitive: false },
    ]);
  });

  it('are refused with the name of a wrong reset', () => {
    expect(() => plan({}, {}, { reset: ['alarmEmail'] })).toThrow('the deployed platform does not set it');
    expect(() => plan({ readySeconds: 1 }, { readySeconds: '2' }, { reset: ['readySeconds'] })).toThrow('both -c and');
    expect(() => plan({ readySeconds: 1 }, {}, { file: { readySeconds: 1 }, reset: ['readySeconds'] })).toThrow(
      'is set in cdk.json',
    );
  });

  it('of another version that this one does not know have to be dropped', () => {
    expect(() => plan({ formerSetting: 1 })).toThrow('formerSetting. Drop each with --reset');
    expect(plan({ formerSetting: 1 }, {}, { reset: ['formerSetting'] })).toMatchObject({
      chosen: {},
      changed: [{ name: 'formerSetting', from: '1', to: undefined, sensitive: false }],
    });
  });
});

describe('keys of workload identity', () => {
  const keys = (former: string, next: string, updatedAt = weekAgo) =>
    plan({ identityKeys: former.split(',') }, { identityKeys: next }, { updatedAt }).chosen.identityKeys;

  it('are replaced in three deployments', () => {
    expect(keys('1', '1,2')).toEqual(['1', '2']);
    expect(keys('1,2', '2,1', '2026-05-10T11:40:00Z')).toEqual(['2', '1']);
    expect(keys('2,1', '2', '2026-05-09T11:00:00Z')).toEqual(['2']);
  });

  it('are not removed while they sign, or within a day after the last update', () => {
    expect(() => keys('1,2', '2')).toThrow('1 signs tokens now');
    expect(() => keys('2,1', '2', '2026-05-10T08:00:00Z')).toThrow('Remove after 2026-05-11T08:00:00.000Z');
    expect(() => plan({ identityKeys: ['2'] }, {}, { reset: ['identityKeys'] })).toThrow('2 signs tokens now');
  });

  it('do not sign before they were published for 15 minutes', () => {
    expect(() => keys('1', '2,1')).toThrow('2 is not published yet');
    expect(() => keys('1,2', '2,1', '2026-05-10T11:50:00Z')).toThrow('Put it first 15 minutes after that');
  });
});

it('a setting given as text is read to the same value', () => {
  const context = {
    ...network,
    readySeconds: 0,
    sharedProviderHosts: 'none',
    warmRunners: 2,
    warmRunnerHours: 'Mon-Fri 08:00-18:00 Europe/Berlin',
    maxRunners: 9,
    organizationMaxRunners: '5,acme:20',
    outboundAllowedCidrs: ['10.1.0.0/16', '10.2.0.0/16'],
    environmentDebug: true,
    runnerPublicIp: false,
    identityKeys: ['1', '2'],
    signInIssuer: 'https://id.example.com/a?b=c',
    signInClientId: 'a,b',
  };
  const settings = readSettings(context);
  const texts = Object.fromEntries(Object.entries(settings.chosen).map(([name, value]) => [name, settingText(value)]));
  expect(readSettings(texts)).toEqual(settings);
  // Read from the deployment.
  expect(readSettings(JSON.parse(JSON.stringify(settings.chosen)))).toEqual(settings);
  expect(JSON.stringify(readSettings(Object.fromEntries(Object.entries(context).reverse())).chosen)).toBe(
    JSON.stringify(settings.chosen),
  );
});
