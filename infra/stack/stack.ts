import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { type App, CfnOutput, Stack } from 'aws-cdk-lib/core';
import type { Bundles } from '#infra/build/bundle.ts';
import type { Settings } from '#infra/settings/settings.ts';
import { Data } from './data.ts';
import { existsWholly } from './existing-data.ts';
import { Platform } from './platform.ts';
import { recordSettings } from './recorded-settings.ts';
import { existingStorage } from './storage.ts';

/** The stacks that `stepform deploy` deploys: data and platform; without the data's if all of it exists. */
export const platformStacks = (app: App, settings: Settings, bundles: Bundles) => {
  const data = existsWholly(settings) ? undefined : new Data(app, settings);
  const platform = new Stack(app, settings.stackName, {
    description: 'Stepform: Terraform Cloud’s run lifecycle as a serverless application',
    analyticsReporting: false,
    // CloudFormation accepts 1 MB (quotas), and indentation would be a third of the template.
    suppressTemplateIndentation: true,
  });
  recordSettings(platform, settings);
  // The id `Default` adds nothing to logical ids.
  const { url, environmentsUrl, handlers, lifecycle } = new Platform(platform, 'Default', {
    settings,
    bundles,
    storage: existingStorage(platform, settings, data?.storage),
  });
  // Fixed names: operators and the local platform find functions by them.
  for (const [id, handler] of Object.entries(handlers))
    (handler.function.node.defaultChild as CfnFunction).overrideLogicalId(`${id}Function`);
  const outputs = {
    ApiUrl: url,
    EnvironmentsUrl: environmentsUrl,
    StateMachineArn: lifecycle.stateMachineArn,
    BootstrapFunctionName: handlers.Bootstrap.function.functionName,
    RecoverFunctionName: handlers.Recover.function.functionName,
    DrainFunctionName: handlers.Drain.function.functionName,
  };
  for (const [name, value] of Object.entries(outputs)) new CfnOutput(platform, name, { value });
  return { data, platform };
};
