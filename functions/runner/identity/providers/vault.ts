import type { VaultCredential } from '#run/protocols/credential.ts';
import type { Settings } from '../settings.ts';

const defaultTimeoutSeconds = 60;
const maxTimeoutSeconds = 600;

/** HCP Terraform: dynamic credentials with the Vault provider. */
export const readVault = (settings: Settings): VaultCredential => {
  const namespace = settings.find('NAMESPACE');
  const caCertificate = certificateOf(settings);
  return {
    provider: 'vault',
    ...settings.tag,
    audience: settings.find('WORKLOAD_IDENTITY_AUDIENCE') ?? 'vault.workload.identity',
    address: addressOf(settings),
    ...(namespace ? { namespace } : {}),
    authPath: (settings.find('AUTH_PATH') ?? 'jwt').replace(/^\/+|\/+$/g, ''),
    role: settings.ofPhase('ROLE', 'role').value,
    ...(caCertificate ? { caCertificate } : {}),
    timeoutSeconds: timeoutOf(settings),
  };
};

const addressOf = (settings: Settings): string => {
  const address = settings.require('ADDR', 'the address of Vault, e.g. https://vault.example.com:8200');
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // Credentials in an address would end up in the environment, in plans and in messages.
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    const shown = url ? `${url.protocol}//${url.host}/…` : address;
    throw settings.wrong(settings.nameOf('ADDR'), shown, 'be an https address without user, query and fragment');
  }
  return address.replace(/\/+$/, '');
};

const certificateOf = (settings: Settings): string | undefined => {
  const encoded = settings.find('ENCODED_CACERT');
  if (!encoded) return undefined;
  const pem = Buffer.from(encoded, 'base64').toString('utf8');
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw settings.wrong(
    settings.nameOf('ENCODED_CACERT'),
    `${encoded.slice(0, 20)}…`,
    'be a certificate in PEM, in base64',
  );
};

const timeoutOf = (settings: Settings): number => {
  const seconds = settings.find('CLIENT_TIMEOUT');
  if (seconds === undefined) return defaultTimeoutSeconds;
  if (/^[1-9]\d{0,2}$/.test(seconds) && Number(seconds) <= maxTimeoutSeconds) return Number(seconds);
  throw settings.wrong(settings.nameOf('CLIENT_TIMEOUT'), seconds, `be a number of seconds up to ${maxTimeoutSeconds}`);
};
