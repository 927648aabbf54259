import { Template } from 'aws-cdk-lib/assertions';
import { App, type Stack } from 'aws-cdk-lib/core';
import { readSettings } from '#infra/settings/settings.ts';
import { platformStacks } from '#infra/stack/stack.ts';
import { bundles } from './template.ts';

/**
 * An app's properties without the CDK's validation against CloudFormation's schemas, which takes longer than everything
 * else: test/infra/synth.test.ts and `npm run lint:template` do that.
 */
export const quick = {
  ...{ analyticsReporting: false, treeMetadata: false, builtinCloudFormationValidation: false },
  // No test reads copies of the functions, or where a construct was created.
  context: { 'aws:cdk:disable-asset-staging': true, 'aws:cdk:disable-creation-stack-traces': true },
};

/** Stacks with other settings. */
export const stackWith = (context: Record<string, unknown>) => {
  const app = new App(quick);
  const { data, platform: stack } = platformStacks(app, readSettings(context), bundles);
  return {
    app,
    data,
    stack,
    template: () => Template.fromStack(stack),
    dataTemplate: () => Template.fromStack(data as Stack),
  };
};
