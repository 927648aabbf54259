/**
 * Credentials that a phase presents to clouds and to Vault instead of a stored secret: one workload identity token for
 * each configuration in the workspace's variables (HCP Terraform: dynamic provider credentials).
 */

interface CredentialBase {
  /** Distinguishes several configurations of one provider; absent for the default one. */
  tag?: string;
  /** `aud` of the token. */
  audience: string;
}

/** A token without a provider, for use by the configuration itself. */
export interface PlainCredential extends CredentialBase {
  provider: 'token';
}

export interface AwsCredential extends CredentialBase {
  provider: 'aws';
  roleArn: string;
}

export interface GcpCredential extends CredentialBase {
  provider: 'gcp';
  serviceAccountEmail: string;
  /** `projects/<number>/locations/global/workloadIdentityPools/<pool>/providers/<id>` */
  workloadProvider: string;
}

export interface AzureCredential extends CredentialBase {
  provider: 'azure';
  clientId: string;
}

export interface VaultCredential extends CredentialBase {
  provider: 'vault';
  /** Without a trailing slash. */
  address: string;
  namespace?: string;
  /** Where the JWT backend is mounted, e.g. `jwt`. */
  authPath: string;
  role: string;
  /** PEM of a certificate authority to trust in addition to the public ones. */
  caCertificate?: string;
  timeoutSeconds: number;
}

export interface KubernetesCredential extends CredentialBase {
  provider: 'kubernetes';
}

export type Credential =
  | PlainCredential
  | AwsCredential
  | GcpCredential
  | AzureCredential
  | VaultCredential
  | KubernetesCredential;

interface Backed {
  tag?: string;
  /** Tag of the Vault configuration that issues it; absent for the default one. */
  vault?: string;
  /** Path of Vault's API that issues it. */
  path: string;
  /** Body of a write to the path; without a body the path is read. */
  body?: Record<string, string>;
  /** Time until the credential is valid everywhere in the cloud. */
  sleepSeconds: number;
}

export interface BackedAws extends Backed {
  provider: 'vault_backed_aws';
}

export interface BackedGcp extends Backed {
  provider: 'vault_backed_gcp';
  /** Kind of credential that Vault issues for a service account. */
  makes: 'access_token' | 'service_account_key';
}

export interface BackedAzure extends Backed {
  provider: 'vault_backed_azure';
}

/** Credentials that Vault issues for a cloud (HCP Terraform: Vault-backed dynamic credentials). */
export type BackedCredential = BackedAws | BackedGcp | BackedAzure;

/** A credential with its token, as runners receive it. */
export type Signed<C extends Credential = Credential> = C & { token: string };
