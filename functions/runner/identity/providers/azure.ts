import type { AzureCredential } from '#run/protocols/credential.ts';
import type { Settings } from '../settings.ts';

/** HCP Terraform: dynamic credentials with the Azure providers. */
export const readAzure = (settings: Settings): AzureCredential => ({
  provider: 'azure',
  ...settings.tag,
  clientId: settings.ofPhase('CLIENT_ID', 'client ID').value,
  audience: settings.find('WORKLOAD_IDENTITY_AUDIENCE') ?? 'api://AzureADTokenExchange',
});
