import type { GcpCredential } from '#run/protocols/credential.ts';
import type { Settings } from '../settings.ts';

const email = /^[a-z0-9][a-z0-9-]*@[a-z0-9.-]+$/;
const providerName = /^projects\/\d+\/locations\/global\/workloadIdentityPools\/[a-z0-9-]+\/providers\/[a-z0-9-]+$/;

/**
 * HCP Terraform: dynamic credentials with the GCP provider. The provider's full name takes precedence over its three
 * parts.
 */
export const readGcp = (settings: Settings): GcpCredential => {
  const account = settings.ofPhase('SERVICE_ACCOUNT_EMAIL', 'service account');
  if (!email.test(account.value)) {
    throw settings.wrong(account.variable, account.value, 'be the e-mail address of a service account');
  }
  const workloadProvider = settings.find('WORKLOAD_PROVIDER_NAME') ?? nameOfParts(settings);
  if (!providerName.test(workloadProvider)) {
    const variable = settings.nameOf('WORKLOAD_PROVIDER_NAME');
    throw settings.wrong(
      variable,
      workloadProvider,
      'have the form projects/<number>/locations/global/workloadIdentityPools/<pool>/providers/<provider>',
    );
  }
  return {
    provider: 'gcp',
    ...settings.tag,
    audience: settings.find('WORKLOAD_IDENTITY_AUDIENCE') ?? `//iam.googleapis.com/${workloadProvider}`,
    serviceAccountEmail: account.value,
    workloadProvider,
  };
};

const nameOfParts = (settings: Settings): string => {
  const instead = `, or ${settings.nameOf('WORKLOAD_PROVIDER_NAME')} to the canonical name of the workload identity provider`;
  const number = settings.require('PROJECT_NUMBER', `the number of the project${instead}`);
  const pool = settings.require('WORKLOAD_POOL_ID', `the id of the workload identity pool${instead}`);
  const provider = settings.require('WORKLOAD_PROVIDER_ID', `the id of the workload identity provider${instead}`);
  return `projects/${number}/locations/global/workloadIdentityPools/${pool}/providers/${provider}`;
};
