import type { AzureCredential, Signed } from '#run/protocols/credential.ts';
import type { CredentialFolder, IssuedCredential } from './issued-credentials.ts';

/**
 * The provider rejects a token in the environment together with one in a file, so several configurations use only
 * files.
 */
export const makeAzure = ({ clientId, token }: Signed<AzureCredential>, keep: CredentialFolder): IssuedCredential => ({
  environment: { ARM_USE_OIDC: 'true', ARM_CLIENT_ID: clientId, ARM_OIDC_TOKEN: token },
  entry: {
    client_id_file_path: { file: keep.write('tfc-azure-client-id', clientId) },
    oidc_token_file_path: { file: keep.write('tfc-azure-token', token) },
  },
});
