import { CfnOutput, CfnParameter, CfnRule, Fn, type Stack } from 'aws-cdk-lib/core';
import { dataFormat, dataFormatOutput } from '#infra/settings/data-format.ts';
import { type Settings, SettingsError, settingsOutput } from '#infra/settings/settings.ts';

/** CloudFormation's quota for the value of a parameter. */
const maximumBytes = 4096;

/**
 * A value that CloudFormation compares with that of the deployed stack: `cdk deploy` sends parameters of a deployed stack
 * with their previous values (CDK: --previous-parameters), and CloudFormation checks rules before it changes a resource.
 * `stepform deploy`, which checks the change itself, confirms it with --no-previous-parameters.
 */
const confirm = (
  stack: Stack,
  { parameter, rule, value, refusal }: { parameter: string; rule: string; value: string; refusal: string },
): void => {
  const confirmed = new CfnParameter(stack, parameter, {
    type: 'String',
    default: value,
    description: 'As confirmed by npx stepform deploy.',
  });
  new CfnRule(stack, rule, {
    assertions: [{ assert: Fn.conditionEquals(confirmed.valueAsString, value), assertDescription: refusal }],
  });
};

/**
 * Records the operator's settings and the format of the data in a stack, and lets CloudFormation refuse a deployment with
 * others.
 *
 * The outputs make each change of a setting an update of the stack, even if no resource changes (aws-cdk #2029).
 * @throws {SettingsError} if the settings do not fit into a parameter
 */
export const recordSettings = (stack: Stack, { chosen }: Settings): void => {
  const value = JSON.stringify(chosen);
  const bytes = Buffer.byteLength(value);
  if (bytes > maximumBytes)
    throw new SettingsError(`Settings: ${bytes} bytes as JSON, more than ${maximumBytes}. Shorten lists among them.`);
  confirm(stack, {
    parameter: 'ConfirmedSettings',
    rule: 'SettingsUnchanged',
    value,
    refusal:
      'These settings differ from the deployed ones (output DeployedSettings). Use npx stepform deploy, which keeps them, or confirm all changes with --no-previous-parameters.',
  });
  // Equal, not at least as new: an upgrade would keep the former value of the parameter, and a later downgrade pass.
  confirm(stack, {
    parameter: 'ConfirmedDataFormat',
    rule: 'DataFormatUnchanged',
    value: String(dataFormat),
    refusal: `This version reads and writes data of format ${dataFormat}, and the deployed one another format (output DataFormat): each would misread the other's data. Deploy a version of that format, or this one under another stackName (infra/docs/releases.md). Or restore the table to a time before the upgrade (infra/docs/recovery.md), and confirm with --no-previous-parameters.`,
  });
  new CfnOutput(stack, settingsOutput, { value });
  new CfnOutput(stack, dataFormatOutput, { value: String(dataFormat) });
};
