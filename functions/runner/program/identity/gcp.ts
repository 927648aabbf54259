import type { GcpCredential, Signed } from '#run/protocols/credential.ts';
import type { CredentialFolder, IssuedCredential } from './issued-credentials.ts';

/** Google's libraries exchange the token, first for a federated one (AIP-4117: external account credentials). */
export const makeGcp = (
  { serviceAccountEmail, workloadProvider, token }: Signed<GcpCredential>,
  keep: CredentialFolder,
): IssuedCredential => {
  const account = `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${serviceAccountEmail}`;
  const credentials = {
    type: 'external_account',
    audience: `//iam.googleapis.com/${workloadProvider}`,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: 'https://sts.googleapis.com/v1/token',
    credential_source: { file: keep.write('tfc-gcp-token', token), format: { type: 'text' } },
    service_account_impersonation_url: `${account}:generateAccessToken`,
  };
  const file = keep.write('tfc-google-application-credentials', JSON.stringify(credentials));
  return {
    environment: { GOOGLE_CREDENTIALS: file, GOOGLE_APPLICATION_CREDENTIALS: file },
    entry: { credentials: { file } },
  };
};
