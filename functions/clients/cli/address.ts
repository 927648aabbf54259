import { genericHost } from '#platform/net/generic-host.ts';
import { plainHttpProblem } from '#platform/net/transport/plain-http.ts';
import { keptToken, onlyHost, terraformToken } from './credentials.ts';
import { CommandError, exit, wrongUsage } from './exit.ts';
import { isAt, type LocalPlatform } from './local-platform.ts';
import { program } from './program.ts';
import { hostFile, hostToken, hostUrl } from './terraform-host.ts';

/** The platform's address, and the token. */

export interface Address {
  /** Without a slash at the end; may have a path. */
  url: string;
  /** As Terraform writes it: with the port, if any. */
  host: string;
  /** The source of the address, for messages. */
  from: string;
}

interface Places {
  /** `--host` */
  option: string | undefined;
  /** From the folder's cloud block. */
  block: string | undefined;
  local: LocalPlatform | undefined;
  env?: NodeJS.ProcessEnv;
}

const urlOf = (text: string, from: string): URL => {
  try {
    const url = new URL(text.includes('://') ? text : `https://${text}`);
    if (/^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '') return url;
  } catch {
    // Reported below.
  }
  throw wrongUsage(`${from} is "${text}", which is not a valid host or URL. Give a host such as stepform.example.com`);
};

/** @param from where the text is from, for messages @throws {CommandError} */
export const addressOf = (
  text: string,
  from: string,
  { local, env = process.env }: Pick<Places, 'local' | 'env'>,
): Address => {
  const server = text === genericHost ? (local?.url ?? hostUrl()) : text;
  if (!server) {
    throw wrongUsage(
      `${from} is ${genericHost}, which stands for no server yet. Set it up: ${program} login <host> --terraform`,
    );
  }
  const url = urlOf(server, from);
  const here = local && isAt(local, url.host);
  const problem = plainHttpProblem(url, env);
  if (problem) throw wrongUsage(`${from}: ${problem}`);
  // Its certificate is self-signed; the same platform answers on this machine over plain HTTP.
  return {
    url: (here ? local.url : url.href).replace(/\/+$/, ''),
    host: here ? hostOf(local) : url.host,
    from,
  };
};

/** One name for all addresses of the platform on this machine: Terraform's, by which tokens are stored. */
const hostOf = ({ httpsUrl }: LocalPlatform): string => new URL(httpsUrl).host;

/** @throws {CommandError} when no address is configured */
export const findAddress = ({ option, block, local, env = process.env }: Places): Address => {
  const around = { local, env };
  if (option) return addressOf(option, '--host', around);
  if (env.TFE_ADDRESS) return addressOf(env.TFE_ADDRESS, 'TFE_ADDRESS', around);
  if (env.TFE_HOSTNAME) return addressOf(env.TFE_HOSTNAME, 'TFE_HOSTNAME', around);
  if (block) return addressOf(block, 'the cloud block', around);
  if (local) return { url: local.url, host: hostOf(local), from: local.path };
  const host = onlyHost();
  const named = hostUrl();
  if (named && (!host || host === new URL(named).host)) return addressOf(genericHost, hostFile(), around);
  if (host) return addressOf(host, 'your only login', around);
  throw wrongUsage(
    `No server configured. Sign in with "${program} login <host>", give --host, or start a local server: ${program} start`,
  );
};

/** Environment tokens go only to a platform that the user chose, never to one that a file in the folder names. */
const chosen = ({ from }: Address): boolean => ['--host', 'TFE_ADDRESS', 'TFE_HOSTNAME'].includes(from);

/** @throws {CommandError} when there is no token */
export const findToken = (
  address: Address,
  local: LocalPlatform | undefined,
  env: NodeJS.ProcessEnv = process.env,
): { token: string; from: string } => {
  const token = chosen(address) && env.TFE_TOKEN;
  if (token) return { token: token, from: 'TFE_TOKEN' };
  const stored = terraformToken(address.host);
  if (stored) return stored;
  if (local && isAt(local, address.host)) return { token: local.token, from: local.path };
  const named = address.url === hostUrl() ? hostToken() : undefined;
  if (named) return { token: named, from: hostFile() };
  const unused = env.TFE_TOKEN ? ' TFE_TOKEN is used only with TFE_ADDRESS or --host.' : '';
  const hidden =
    env.TF_CLI_CONFIG_FILE && keptToken(address.host)
      ? ' Stored credentials are ignored because TF_CLI_CONFIG_FILE is set.'
      : '';
  throw new CommandError(
    `No token for ${address.host}. Sign in: ${program} login ${address.host}.${unused}${hidden}`,
    exit.notAllowed,
  );
};
