import { rootCertificates } from 'node:tls';
import { messageOf, TransportError } from '#platform/net/transport/errors.ts';
import { type Answer, type Call, send } from '#platform/net/transport/http.ts';
import { retryFor, retrying } from '#platform/net/transport/retry.ts';
import type { Signed, VaultCredential } from '#run/protocols/credential.ts';
import { PhaseError } from '../errors.ts';
import type { CredentialFolder, IssuedCredential, OpenVault } from './issued-credentials.ts';

/** A lease is renewed after this part of its duration. */
const renewAfter = 2 / 3;
const shortestRenewalMs = 1_000;
/** How long to wait for a token's revocation. A token that is not revoked expires by itself. */
const revokeMs = 10_000;

interface Lease {
  client_token: string;
  /** Seconds; 0: does not expire. */
  lease_duration: number;
  renewable: boolean;
}

/** Vault's HTTP API, for one token. */
class Vault {
  readonly #credential: Signed<VaultCredential>;

  constructor(credential: Signed<VaultCredential>) {
    this.#credential = credential;
  }

  /** Vault: JWT/OIDC auth method, JWT login. @throws {PhaseError} */
  async login(signal: AbortSignal): Promise<Lease> {
    const { address, authPath, role, token, timeoutSeconds } = this.#credential;
    const path = `auth/${authPath.split('/').map(encodeURIComponent).join('/')}/login`;
    try {
      const answer = await retrying(
        () => this.#call(path, { role, jwt: token }, timeoutSeconds * 1000),
        retryFor(timeoutSeconds * 1000, signal),
      );
      return readLease(answer);
    } catch (error) {
      throw new PhaseError(
        `Vault at ${address} rejected the login of this run with role "${role}" at auth/${authPath}: ${messageOf(error)}. ` +
          'Correct the TFC_VAULT_… variables of the workspace, or the role in Vault.',
      );
    }
  }

  /** @throws {Error} */
  async renew(token: string): Promise<Lease> {
    return readLease(await this.#call('auth/token/renew-self', {}, this.#credential.timeoutSeconds * 1000, token));
  }

  /** @throws {Error} */
  async revoke(token: string): Promise<void> {
    await this.#call('auth/token/revoke-self', {}, revokeMs, token);
  }

  /** Reads, or writes a body. @throws {PhaseError} */
  async ask(path: string, body: object | undefined, token: string): Promise<Record<string, string>> {
    const { address, timeoutSeconds } = this.#credential;
    try {
      const answer = await this.#call(path, body, timeoutSeconds * 1000, token);
      return read(answer).data ?? {};
    } catch (error) {
      throw new PhaseError(
        `Vault at ${address} issued no credentials at ${path}: ${messageOf(error)}. Correct the TFC_VAULT_BACKED_… variables of the workspace, or the policy and the secrets engine in Vault.`,
      );
    }
  }

  async #call(path: string, body: object | undefined, idleMs: number, token?: string): Promise<Answer> {
    const { address, namespace, caCertificate } = this.#credential;
    const call: Call = {
      method: body ? 'POST' : 'GET',
      headers: {
        'content-type': 'application/json',
        'x-vault-request': 'true',
        ...(namespace ? { 'x-vault-namespace': namespace } : {}),
        ...(token ? { 'x-vault-token': token } : {}),
      },
      ...(body ? { body: Buffer.from(JSON.stringify(body)) } : {}),
      idleMs,
      ...(caCertificate ? { ca: [...rootCertificates, caCertificate] } : {}),
    };
    const answer = await send(`${address}/v1/${path}`, call);
    if (answer.status < 300) return answer;
    const message = `HTTP ${answer.status} ${errorsIn(answer)}`.trim();
    throw answer.status >= 500 ? new TransportError(message) : new Error(message);
  }
}

interface Body {
  auth?: Lease;
  data?: Record<string, string>;
  errors?: string[];
}

/** Omits the parser's error message, which quotes the response. */
const read = ({ body }: Answer): Body => {
  try {
    return JSON.parse(body.toString('utf8')) as Body;
  } catch {
    throw new Error('the response is not from Vault');
  }
};

/** Vault: error response. */
const errorsIn = (answer: Answer): string => {
  try {
    return (read(answer).errors ?? []).join('; ').slice(0, 500);
  } catch {
    return '';
  }
};

const readLease = (answer: Answer): Lease => {
  const { auth } = read(answer);
  if (!auth?.client_token) throw new Error('the response is not from Vault');
  return auth;
};

/** Renews the token. @returns a function that stops the renewal */
const keepAlive = (vault: Vault, { client_token: token, lease_duration, renewable }: Lease): (() => void) => {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const after = (seconds: number) => {
    if (stopped || seconds <= 0) return;
    timer = setTimeout(() => void again(), Math.max(shortestRenewalMs, seconds * 1000 * renewAfter)).unref();
  };
  const again = async () => {
    const lease = await vault.renew(token).catch((error: unknown) => {
      console.error(`a Vault token was not renewed: ${messageOf(error)}`);
      return undefined;
    });
    if (lease) after(lease.lease_duration);
  };
  if (renewable) after(lease_duration);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
};

/**
 * Exchanges the workload identity token for a Vault token that lives as long as the phase. The provider must not create
 * a child token: the policy that the documentation recommends does not allow it.
 * @throws {PhaseError} with Vault's error
 */
export const makeVault = async (
  credential: Signed<VaultCredential>,
  keep: CredentialFolder,
  signal: AbortSignal,
): Promise<IssuedCredential & OpenVault> => {
  const { address, namespace, caCertificate } = credential;
  const vault = new Vault(credential);
  const lease = await vault.login(signal);
  const token = lease.client_token;
  const stop = keepAlive(vault, lease);
  const ca = caCertificate ? keep.write('tfc-vault-ca-cert', caCertificate) : undefined;
  return {
    environment: {
      VAULT_ADDR: address,
      VAULT_TOKEN: token,
      TERRAFORM_VAULT_SKIP_CHILD_TOKEN: 'true',
      ...(namespace ? { VAULT_NAMESPACE: namespace } : {}),
      ...(ca ? { VAULT_CACERT: ca } : {}),
    },
    entry: {
      token_filename: { file: keep.write('tfc-vault-token', token) },
      address,
      namespace: namespace ?? '',
      ca_cert_file: ca ? { file: ca } : '',
    },
    secrets: [token],
    ask: (path, body) => vault.ask(path, body, token),
    async end() {
      stop();
      await vault.revoke(token).catch((error: unknown) => {
        console.error(`a Vault token was not revoked: ${messageOf(error)}`);
      });
    },
  };
};
