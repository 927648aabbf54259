import { describe, expect, it } from 'vitest';
import { stackWith } from './stack-with.ts';
import { resources, template, templates } from './template.ts';

const [data, platform] = templates.map((stack) => stack.template);

describe('the stack of the data', () => {
  it('has table, bucket and key, and nothing else', () => {
    const types = Object.values(data?.Resources ?? {}).map(({ Type }) => Type);
    expect(types.sort()).toEqual(['AWS::DynamoDB::Table', 'AWS::KMS::Key', 'AWS::S3::Bucket', 'AWS::S3::BucketPolicy']);
    expect(templates.map(({ stackName }) => stackName)).toEqual(['Stepform-Data', 'Stepform']);
  });

  it('is protected from deletion, like the table, unless removalPolicy is destroy', () => {
    const kept = stackWith({});
    expect(kept.data?.terminationProtection).toBe(true);
    expect(resources('AWS::DynamoDB::Table')[0]?.Properties.DeletionProtectionEnabled).toBe(true);
    const gone = stackWith({ removalPolicy: 'destroy' });
    expect(gone.data?.terminationProtection).toBe(false);
    gone.dataTemplate().hasResourceProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  });

  it('creates the table last, because a failed first deployment cannot delete a protected table', () => {
    const others = Object.keys(data?.Resources ?? {}).filter((id) => !id.startsWith('StorageTable'));
    const [[, table] = []] = Object.entries(data?.Resources ?? {}).filter(([id]) => id.startsWith('StorageTable'));
    const before = [...((table?.DependsOn ?? []) as string[]), 'StorageKeyBAA9457B'];
    expect(JSON.stringify(table?.Properties)).toContain('StorageKeyBAA9457B');
    expect(before.sort()).toEqual(others.sort());
  });

  it('exports the same values regardless of imports of the platform: an export in use cannot be removed', () => {
    const exported = Object.values(data?.Outputs ?? {}).flatMap(({ Export }) => Export?.Name ?? []);
    expect(exported.sort()).toEqual([
      'Stepform-Data:ExportsOutputFnGetAttStorageBucket5CB7C8EAArnB295C186',
      'Stepform-Data:ExportsOutputFnGetAttStorageKeyBAA9457BArn746704A7',
      'Stepform-Data:ExportsOutputFnGetAttStorageTableB43FDCE7ArnB71319BA',
      'Stepform-Data:ExportsOutputRefStorageBucket5CB7C8EA62094B99',
      'Stepform-Data:ExportsOutputRefStorageTableB43FDCE72E358E31',
    ]);
    // CloudFormation protects an imported value only for exports, not for outputs that are looked up.
    expect(JSON.stringify(platform)).not.toContain('Fn::GetStackOutput');
  });
});

describe('the logical ids of retained resources', () => {
  // CloudFormation deletes a resource whose logical id changes, and creates another one.
  it.each([
    ['AWS::DynamoDB::Table', ['StorageTableB43FDCE7']],
    ['AWS::S3::Bucket', ['StorageBucket5CB7C8EA']],
    ['AWS::KMS::Key', ['IdentityKeysKey11A64E20B', 'StorageKeyBAA9457B']],
    ['AWS::ApiGatewayV2::Api', ['EnvironmentApiHttp3B885B61', 'EnvironmentApiSockets242D0622', 'HttpApiDD77E489']],
    ['AWS::StepFunctions::StateMachine', ['LifecycleRuns89C16153']],
    ['AWS::ECS::Cluster', ['RunnersCluster57831847']],
  ])('%s', (type, ids) => {
    expect(
      resources(type)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids);
  });
});

describe('the stack of the platform', () => {
  it('has room to grow', () => {
    // CloudFormation: 500 resources, 1 MB (quotas).
    expect(Object.keys(platform?.Resources ?? {}).length).toBeLessThanOrEqual(220);
    expect(JSON.stringify(platform).length).toBeLessThanOrEqual(500_000);
    console.log(`${Object.keys(platform?.Resources ?? {}).length} resources, ${JSON.stringify(platform).length} bytes`);
  });

  it('refers to the data as the local platform and the tests do', () => {
    expect(JSON.stringify(template)).not.toContain('Fn::ImportValue');
    expect(Object.keys(template.Resources).length).toBe(
      Object.keys(data?.Resources ?? {}).length + Object.keys(platform?.Resources ?? {}).length,
    );
  });
});
