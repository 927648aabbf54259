import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { Lazy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { apiBody, type BodyProps } from './api-body.ts';

/**
 * An HTTP API from its OpenAPI document. CloudFormation refuses every other property beside the document, also tags that
 * an aspect adds (aws-cdk #28552), so these become part of it (API Gateway: x-amazon-apigateway-tag-value).
 */
export const documentApi = (scope: Construct, id: string, props: BodyProps): apigateway.CfnApi => {
  const api: apigateway.CfnApi = new apigateway.CfnApi(scope, id, {
    // Aspects add tags after the stage has resolved the document for its hash.
    body: { ...apiBody(props), tags: Lazy.uncachedAny({ produce: () => tagsOf(api) }, { omitEmptyArray: true }) },
  });
  api.addPropertyDeletionOverride('Tags');
  return api;
};

const tagsOf = ({ tags }: apigateway.CfnApi): object[] =>
  Object.entries(tags.tagValues()).map(([name, value]) => ({ name, 'x-amazon-apigateway-tag-value': value }));
