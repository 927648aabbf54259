/**
 * What a phase is to show to others instead of a stored secret: one workload identity token for each configuration that
 * the workspace's variables ask for (HCP Terraform: dynamic provider credentials).
 */

interface CredentialBase {
  /** Of several configurations of one provider; absent for the default one. */
  tag?: string;
  /** `aud` of the token. */
  audience: string;
}

/** A token alone, for whatever the configuration does with it. */
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
  /** Without a slash at the end. */
  address: string;
  namespace?: string;
  /** Where the JWT backend is mounted, e.g. `jwt`. */
  authPath: string;
  role: string;
  /** PEM of the authority to trust beside the usual ones. */
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
  /** Tag of the configuration of Vault that makes it; absent for the default one. */
  vault?: string;
  /** Path of Vault's API that makes it. */
  path: string;
  /** What is written there; it is read when there is nothing. */
  body?: Record<string, string>;
  /** Until the cloud knows it everywhere. */
  sleepSeconds: number;
}

export interface BackedAws extends Backed {
  provider: 'vault_backed_aws';
}

export interface BackedGcp extends Backed {
  provider: 'vault_backed_gcp';
  /** What Vault makes of a service account. */
  makes: 'access_token' | 'service_account_key';
}

export interface BackedAzure extends Backed {
  provider: 'vault_backed_azure';
}

/** What Vault makes for a cloud (HCP Terraform: Vault-backed dynamic credentials). */
export type BackedCredential = BackedAws | BackedGcp | BackedAzure;

/** With its token, as a runner gets it. */
export type Signed<C extends Credential = Credential> = C & { token: string };
