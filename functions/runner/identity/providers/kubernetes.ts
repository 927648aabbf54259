import type { KubernetesCredential } from '#run/protocols/credential.ts';
import type { Settings } from '../settings.ts';

/** HCP Terraform: dynamic credentials with the Kubernetes and Helm providers. */
export const readKubernetes = (settings: Settings): KubernetesCredential => ({
  provider: 'kubernetes',
  ...settings.tag,
  audience: settings.require('WORKLOAD_IDENTITY_AUDIENCE', "the audience of the cluster's OIDC configuration"),
});
