import type { KubernetesCredential, Signed } from '../../identity/credential.ts';
import type { Keep, Made } from './made.ts';

/** The cluster takes the token itself. */
export const makeKubernetes = ({ token }: Signed<KubernetesCredential>, keep: Keep): Made => ({
  environment: { KUBE_TOKEN: token },
  entry: { token_path: { file: keep.write('tfc-kubernetes-token', token) } },
});
