import type { PhaseName } from '#run/run.ts';
import { readRequestedCredentials } from '#runner/identity/requested-credentials.ts';

/** Variables that request credentials. */

export const ask = (variables: Record<string, string>, phase: PhaseName = 'plan') =>
  askAll(variables, phase).credentials;

export const askAll = (variables: Record<string, string>, phase: PhaseName = 'plan') =>
  readRequestedCredentials(
    Object.entries(variables).map(([key, value]) => ({
      key,
      value,
      category: 'env' as const,
      hcl: false,
      sensitive: false,
    })),
    phase,
  );

export const role = (name: string) => `arn:aws:iam::123456789012:role/${name}`;
export const aws = { TFC_AWS_PROVIDER_AUTH: 'true', TFC_AWS_RUN_ROLE_ARN: role('run') };
export const gcp = {
  TFC_GCP_PROVIDER_AUTH: 'true',
  TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL: 'run@p.iam.gserviceaccount.com',
};
export const workloadProvider = 'projects/7/locations/global/workloadIdentityPools/pool/providers/id';
export const vault = {
  TFC_VAULT_PROVIDER_AUTH: 'true',
  TFC_VAULT_ADDR: 'https://vault.test:8200/',
  TFC_VAULT_RUN_ROLE: 'tfc',
};
