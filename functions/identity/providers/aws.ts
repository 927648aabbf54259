import type { AwsCredential } from '../credential.ts';
import type { Settings } from '../settings.ts';

const roleArn = /^arn:[a-z0-9-]+:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/;

/** HCP Terraform: dynamic credentials with the AWS provider. */
export const readAws = (settings: Settings): AwsCredential => {
  const role = settings.ofPhase('ROLE_ARN', 'role');
  if (!roleArn.test(role.value)) {
    throw settings.wrong(
      role.variable,
      role.value,
      'be the ARN of an IAM role, e.g. arn:aws:iam::123456789012:role/name',
    );
  }
  return {
    provider: 'aws',
    ...settings.tag,
    audience: settings.find('WORKLOAD_IDENTITY_AUDIENCE') ?? 'aws.workload.identity',
    roleArn: role.value,
  };
};
