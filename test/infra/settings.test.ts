import { describe, expect, it } from 'vitest';
import { readSettings, SettingsError } from '#infra/settings/settings.ts';
import { localMaxRunnerVariable, maxRunnerVariable } from '#infra/stack/max-runners.ts';

const problem = (context: Record<string, unknown>): string => {
  try {
    readSettings(context);
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
  throw new Error('was accepted');
};

describe('settings', () => {
  it('have defaults', () => {
    expect(readSettings({})).toEqual({
      stackName: 'Stepform',
      sharedProviderHosts: ['registry.terraform.io', 'registry.opentofu.org'],
      terraformEngine: 'terraform',
      terraformVersion: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      readySeconds: 120,
      heartbeatSeconds: 5,
      runnerCpu: 1024,
      runnerMemoryMiB: 2048,
      runnerDiskGiB: 20,
      runnerArchitecture: 'x86_64',
      chosen: {},
      keyRotationDays: 2560,
      identityKeys: ['1'],
      logRetentionDays: 30,
      removalPolicy: 'retain',
      auditRetentionDays: 90,
      requestsPerSecond: 30,
      warmRunners: 0,
      environmentDebug: false,
      executeApiEndpoint: true,
    });
  });

  it('are parsed from text (`-c name=value`)', () => {
    const { readySeconds, subnetIds, vpcId } = readSettings({
      readySeconds: '0',
      vpcId: 'vpc-0a1b',
      subnetIds: 'subnet-1, subnet-2',
    });
    expect({ readySeconds, subnetIds, vpcId }).toEqual({
      readySeconds: 0,
      subnetIds: ['subnet-1', 'subnet-2'],
      vpcId: 'vpc-0a1b',
    });
  });

  it('limit runners of the platform, of each organization, and of single ones', () => {
    const variable = (settings: Record<string, unknown>) => maxRunnerVariable(readSettings(settings));
    expect(variable({})).toBe('');
    expect(JSON.parse(variable({ maxRunners: '20' }))).toEqual({ platform: 20 });
    expect(JSON.parse(variable({ organizationMaxRunners: 5 }))).toEqual({ organization: 5 });
    expect(JSON.parse(variable({ maxRunners: 9, organizationMaxRunners: '5,Acme:2' }))).toEqual({
      platform: 9,
      organization: 5,
      organizations: { acme: 2 },
    });
    expect(localMaxRunnerVariable({ STEPFORM_MAX_RUNNERS: '2' })).toBe('{"platform":2}');
    expect(() => localMaxRunnerVariable({ STEPFORM_ORGANIZATION_MAX_RUNNERS: 'acme' })).toThrow(
      'STEPFORM_ORGANIZATION_MAX_RUNNERS must be a number for each organization',
    );
  });

  it("select the image's version by engine", () => {
    expect(readSettings({ terraformEngine: 'tofu' }).terraformVersion).not.toBe(readSettings({}).terraformVersion);
    expect(readSettings({ terraformEngine: 'tofu', terraformVersion: '1.8.0' }).terraformVersion).toBe('1.8.0');
  });

  it("ignore CDK's own context", () => {
    const context = { '@aws-cdk/core:x': true, 'aws:cdk:y': 1, 'vpc-provider:account=1': {}, 'cli-telemetry': false };
    expect(readSettings(context)).toEqual(readSettings({}));
  });

  it.each([
    [{ runnerArchitecture: 'arm' }, 'runnerArchitecture: must be arm64 or x86_64'],
    [{ runnerPublicIp: 'no' }, 'runnerPublicIp: must be true or false'],
    [{ keyRotationDays: 30 }, 'keyRotationDays: must be at least 90'],
    [{ holdSecond: 5 }, 'holdSecond: unknown setting'],
    [{ readySeconds: 'soon' }, 'readySeconds: must be a whole number (it is "soon")'],
    [{ readySeconds: 1.5 }, 'readySeconds: must be a whole number (it is 1.5)'],
    [{ readySeconds: 3601 }, 'readySeconds: must be at most 3600'],
    [{ heartbeatSeconds: 0 }, 'heartbeatSeconds: must be at least 1'],
    [{ heartbeatSeconds: 30 }, 'heartbeatSeconds: must be at most 20'],
    [{ terraformEngine: 'pulumi' }, 'terraformEngine: must be terraform or tofu (it is "pulumi")'],
    [{ terraformVersion: '~> 1.9' }, 'terraformVersion: must be an exact version'],
    [{ logRetentionDays: 8 }, 'logRetentionDays: must be one of 1, 3, 5'],
    [{ runRetentionDays: 30 }, 'runRetentionDays: must be at least 90'],
    [{ configurationRetentionDays: '9999' }, 'configurationRetentionDays: must be at most 3653'],
    [{ removalPolicy: 'keep' }, 'removalPolicy: must be retain or destroy'],
    [{ alarmEmail: 'me' }, 'alarmEmail: must be an e-mail address'],
    [{ vpcId: 'vpc-1' }, 'vpcId, subnetIds: set both'],
    [{ vpcId: 'main', subnetIds: 'a' }, 'vpcId: must be the id of a VPC'],
    [{ domainName: 'https://a.example.com' }, 'domainName: must be a host name in lower case'],
    [{ domainName: 'a.example.com' }, 'certificateArn: is needed with domainName'],
    [{ hostedZoneId: 'Z1', executeApiEndpoint: false }, 'hostedZoneId: needs domainName'],
    [
      { domainName: 'a.example.com', environmentsDomainName: 'a.example.com' },
      'environmentsDomainName: must differ from domainName',
    ],
    [{ warmRunners: 51 }, 'warmRunners: must be at most 50'],
    [{ warmRunners: 1, warmRunnerHours: 'nine to five' }, 'warmRunnerHours: must be days, hours and a time zone'],
    [{ warmRunnerHours: 'Mon-Fri 08:00-18:00 UTC' }, 'warmRunnerHours: needs warmRunners'],
    [{ maxRunners: 0 }, 'maxRunners: must be a number from 1 to 1000'],
    [{ maxRunners: 'many' }, 'maxRunners: must be a number from 1 to 1000 (it is "many")'],
    [{ organizationMaxRunners: 'acme' }, 'organizationMaxRunners: must be a number for each organization'],
    [{ organizationMaxRunners: 'acme:0' }, 'organizationMaxRunners: must be a number for each organization'],
    [{ organizationMaxRunners: '5,acme:1,Acme:2' }, 'organizationMaxRunners: must have one number'],
    [{ organizationMaxRunners: '5,6' }, 'organizationMaxRunners: must have one number'],
    [{ otlpEndpoint: 'otlp.example.com' }, 'otlpEndpoint: must be the base URL of an OTLP/HTTP receiver'],
    [{ otlpEndpoint: 'https://me:secret@otlp.example.com' }, 'otlpEndpoint: must be the base URL'],
    [{ otlpHeadersParameter: '/stepform/otlp' }, 'otlpHeadersParameter: needs otlpEndpoint'],
    [{ stackName: 'my stack' }, 'stackName: must be letters, digits and hyphens'],
  ])('reject %j', (context, message) => {
    expect(problem(context)).toContain(message);
  });

  it('report all errors together', () => {
    expect(problem({ readySeconds: -1, heartbeatSeconds: 99, nope: 1 }).split('\n')).toHaveLength(4);
  });
});
