import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import * as route53 from 'aws-cdk-lib/aws-route53';
import { CfnOutput } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { DomainChoices } from './domain-settings.ts';

/**
 * Serves a stage at a domain name, with a record in Route 53, or an output with the target of a CNAME record. A domain
 * name of a WebSocket API cannot be shared with an HTTP API (API Gateway: custom domain names), so the socket of
 * environments keeps its generated name, which clients get with each redirect.
 */
export const serveAt = (
  scope: Construct,
  name: string,
  stage: apigateway.CfnStage,
  { certificateArn, hostedZoneId }: DomainChoices,
): void => {
  const domain = new apigateway.CfnDomainName(scope, 'Domain', {
    domainName: name,
    domainNameConfigurations: [{ certificateArn, endpointType: 'REGIONAL', securityPolicy: 'TLS_1_2' }],
  });
  new apigateway.CfnApiMapping(scope, 'DomainMapping', {
    apiId: stage.apiId,
    domainName: domain.ref,
    stage: stage.ref,
  });
  if (hostedZoneId === undefined) {
    new CfnOutput(scope, 'DomainTarget', { value: domain.attrRegionalDomainName, description: `CNAME of ${name}` });
    return;
  }
  new route53.CfnRecordSet(scope, 'DomainRecord', {
    hostedZoneId,
    name,
    type: 'A',
    aliasTarget: { dnsName: domain.attrRegionalDomainName, hostedZoneId: domain.attrRegionalHostedZoneId },
  });
};
