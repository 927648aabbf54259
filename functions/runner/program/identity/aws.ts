import type { AwsCredential, Signed } from '#run/protocols/credential.ts';
import type { Job } from '#run/protocols/runner.ts';
import type { CredentialFolder, IssuedCredential } from './issued-credentials.ts';

/** Identifies the run in CloudTrail. AWS: 2 to 64 characters. */
const sessionOf = ({ runId, phase }: Pick<Job, 'runId' | 'phase'>): string => `${runId}-${phase}`;

/**
 * AWS's tools exchange the token for a session of the role, and again when it expires. The environment would take
 * precedence over a provider's `shared_config_files` (AWS SDK for Go: credential chain), so it is used only for a
 * single configuration.
 */
export const makeAws = (
  { roleArn, token }: Signed<AwsCredential>,
  keep: CredentialFolder,
  job: Pick<Job, 'runId' | 'phase'>,
): IssuedCredential => {
  const tokenFile = keep.write('tfc-aws-token', token);
  const session = sessionOf(job);
  const settings = { role_arn: roleArn, web_identity_token_file: tokenFile, role_session_name: session };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  const file = keep.write('tfc-aws-shared-config', `[default]\n${lines.join('')}`);
  return {
    environment: { AWS_ROLE_ARN: roleArn, AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_SESSION_NAME: session },
    entry: { shared_config_file: { file } },
  };
};
