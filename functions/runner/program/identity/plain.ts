import type { PlainCredential, Signed } from '#run/protocols/credential.ts';
import type { CredentialFolder, IssuedCredential } from './issued-credentials.ts';

/** HCP Terraform: manually generate workload identity tokens. Each has its own name. */
export const makePlain = ({ tag, token }: Signed<PlainCredential>, keep: CredentialFolder): IssuedCredential => {
  const suffix = tag === undefined ? '' : `_${tag}`;
  return {
    environment: {
      [`TFC_WORKLOAD_IDENTITY_TOKEN${suffix}`]: token,
      [`TFC_WORKLOAD_IDENTITY_TOKEN_PATH${suffix}`]: keep.write('tfc-workload-identity-token', token),
    },
  };
};
