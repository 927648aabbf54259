import { CfnOutput, CfnParameter, CfnRule, Fn, type Stack } from 'aws-cdk-lib/core';
import { dataFormat, dataFormatOutput } from '#infra/settings/data-format.ts';
import { type Settings, SettingsError, settingsOutput } from '#infra/settings/settings.ts';

/** CloudFormation's quota for the value of a parameter. */
const maximumBytes = 4096;

/**
 * Records the operator's settings in a stack, and lets CloudFormation refuse a deployment with other ones: `cdk deploy`
 * sends parameters of a deployed stack with their previous values (CDK: --previous-parameters), and CloudFormation checks
 * rules before it changes a resource. `stepform deploy` confirms a change with --no-previous-parameters.
 *
 * The output makes each change of a setting an update of the stack, even if no resource changes (aws-cdk #2029).
 * @throws {SettingsError} if they do not fit into a parameter
 */
export const recordSettings = (stack: Stack, { chosen }: Settings): void => {
  const value = JSON.stringify(chosen);
  const bytes = Buffer.byteLength(value);
  if (bytes > maximumBytes)
    throw new SettingsError(`Settings: ${bytes} bytes as JSON, more than ${maximumBytes}. Shorten lists among them.`);
  const parameter = new CfnParameter(stack, 'ConfirmedSettings', {
    type: 'String',
    default: value,
    description: 'Settings of the deployment, as confirmed by npx stepform deploy.',
  });
  new CfnRule(stack, 'SettingsUnchanged', {
    assertions: [
      {
        assert: Fn.conditionEquals(parameter.valueAsString, value),
        assertDescription:
          'These settings differ from the deployed ones (output DeployedSettings). Use npx stepform deploy, which keeps them, or confirm all changes with --no-previous-parameters.',
      },
    ],
  });
  new CfnOutput(stack, settingsOutput, { value });
  new CfnOutput(stack, dataFormatOutput, { value: String(dataFormat) });
};
