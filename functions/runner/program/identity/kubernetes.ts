import type { KubernetesCredential, Signed } from '#run/protocols/credential.ts';
import type { CredentialFolder, IssuedCredential } from './issued-credentials.ts';

/** The cluster accepts the token directly. */
export const makeKubernetes = ({ token }: Signed<KubernetesCredential>, keep: CredentialFolder): IssuedCredential => ({
  environment: { KUBE_TOKEN: token },
  entry: { token_path: { file: keep.write('tfc-kubernetes-token', token) } },
});
