import type { AwsCredential } from '#run/protocols/credential.ts';
import type { Settings } from '../settings.ts';

const roleArn = /^arn:[a-z0-9-]+:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/;

/** @throws {MisconfiguredError} if it is missing */
export const checkRoleArn = (settings: Settings): string => {
  const { value, variable } = settings.ofPhase('ROLE_ARN', 'role');
  if (roleArn.test(value)) return value;
  throw settings.wrong(variable, value, 'be the ARN of an IAM role, e.g. arn:aws:iam::123456789012:role/name');
};

/** HCP Terraform: dynamic credentials with the AWS provider. */
export const readAws = (settings: Settings): AwsCredential => ({
  provider: 'aws',
  ...settings.tag,
  audience: settings.find('WORKLOAD_IDENTITY_AUDIENCE') ?? 'aws.workload.identity',
  roleArn: checkRoleArn(settings),
});
