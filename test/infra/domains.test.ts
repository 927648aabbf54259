import { describe, expect, it } from 'vitest';
import { stackWith } from './stack-with.ts';

const domain = {
  domainName: 'terraform.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/01234567-89ab-cdef-0123-456789abcdef',
};
const environments = { environmentsDomainName: 'environments.example.com' };
const zone = { hostedZoneId: 'Z0123456789ABC' };

const stack = (context: Record<string, unknown>) => {
  const template = stackWith(context).template();
  const json = template.toJSON();
  const of = (type: string) =>
    Object.entries(template.findResources(type)).map(([id, { Properties }]) => ({ id, ...Properties }));
  const variables = (id: string): Record<string, unknown> =>
    json.Resources[`${id}Function`].Properties.Environment.Variables;
  return { json, of, variables };
};

/** Both APIs have one, and records in a zone. */
const whole = stack({ ...domain, ...environments, ...zone, executeApiEndpoint: 'false' });

const withoutZone = stack({ ...domain, ...environments });

describe('domain names', () => {
  it('are mapped to the stages, with records in the zone', () => {
    const { of } = whole;
    const domains = of('AWS::ApiGatewayV2::DomainName');
    expect(domains.map(({ DomainName }) => DomainName)).toEqual(['terraform.example.com', 'environments.example.com']);
    for (const { DomainNameConfigurations } of domains)
      expect(DomainNameConfigurations).toEqual([
        { CertificateArn: domain.certificateArn, EndpointType: 'REGIONAL', SecurityPolicy: 'TLS_1_2' },
      ]);
    const stages = of('AWS::ApiGatewayV2::Stage').filter(({ StageName }) => StageName === '$default');
    expect(
      of('AWS::ApiGatewayV2::ApiMapping').map(({ ApiId, DomainName, Stage }) => [ApiId.Ref, DomainName.Ref, Stage.Ref]),
    ).toEqual(domains.map(({ id }, n) => [stages[n]?.ApiId.Ref, id, stages[n]?.id]));
    expect(of('AWS::Route53::RecordSet').map(({ id: _, ...record }) => record)).toEqual(
      domains.map(({ id, DomainName }) => ({
        HostedZoneId: 'Z0123456789ABC',
        Name: DomainName,
        Type: 'A',
        AliasTarget: {
          DNSName: { 'Fn::GetAtt': [id, 'RegionalDomainName'] },
          HostedZoneId: { 'Fn::GetAtt': [id, 'RegionalHostedZoneId'] },
        },
      })),
    );
  });

  it('are the public URLs of functions, of workload identity and of the outputs', () => {
    const { json, variables } = whole;
    for (const id of ['Identity', 'Notify', 'VersionControlEvent', 'PlanQueued', 'Bootstrap'])
      expect([id, variables(id).PUBLIC_URL]).toEqual([id, 'https://terraform.example.com']);
    expect(variables('Environments').ENVIRONMENTS_URL).toBe('https://environments.example.com');
    expect([json.Outputs.ApiUrl.Value, json.Outputs.EnvironmentsUrl.Value]).toEqual([
      'https://terraform.example.com',
      'https://environments.example.com',
    ]);
    // Nothing else leads clients to the generated host name, which can be off; only the environments' socket keeps one.
    const { Resources } = json;
    const functions = Object.values<{ Type: string; Properties: unknown }>(Resources).filter(
      ({ Type }) => Type === 'AWS::Lambda::Function',
    );
    expect(JSON.stringify(functions)).not.toContain('ApiEndpoint');
  });

  it('without a zone are outputs with the target of a CNAME record', () => {
    const { json, of } = withoutZone;
    expect(of('AWS::Route53::RecordSet')).toEqual([]);
    const targets = Object.values<{ Description?: string }>(json.Outputs).map(({ Description }) => Description);
    expect(targets.filter(Boolean)).toEqual(['CNAME of terraform.example.com', 'CNAME of environments.example.com']);
  });

  it('can replace the generated host names, of APIs that have one', () => {
    const servers = ({ of }: typeof whole) => of('AWS::ApiGatewayV2::Api').map(({ Body }) => Body?.servers);
    const off = (name: string) => [
      {
        url: `https://${name}`,
        'x-amazon-apigateway-endpoint-configuration': { disableExecuteApiEndpoint: true },
      },
    ];
    expect(servers(withoutZone)).toEqual([undefined, undefined, undefined]);
    const ofOne = stack({ ...domain, executeApiEndpoint: 'false' });
    expect(servers(ofOne)).toEqual([off('terraform.example.com'), undefined, undefined]);
    expect(servers(whole)).toEqual([off('terraform.example.com'), off('environments.example.com'), undefined]);
  });

  it('fit into the number of resources', () => {
    expect(Object.keys(whole.json.Resources).length).toBeLessThanOrEqual(220);
  });
});
