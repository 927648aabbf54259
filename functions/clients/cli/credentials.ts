import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseHcl } from '#platform/formats/hcl.ts';
import { CommandError } from './exit.ts';

/**
 * Tokens of hosts, where Terraform keeps and looks for them, so that one login serves both (Terraform: CLI configuration,
 * credentials; `terraform login`).
 */

interface CredentialsFile {
  credentials?: Record<string, { token?: string }>;
}

export const home = (): string => process.env.HOME || homedir();
export const credentialsFile = (): string => join(home(), '.terraform.d', 'credentials.tfrc.json');

/** Undefined if there is no such file. */
export const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** @throws {CommandError} for a file that Terraform would not write; it is left untouched */
const readKept = (): CredentialsFile => {
  const text = readText(credentialsFile());
  if (text === undefined) return {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as CredentialsFile;
  } catch {
    // Reported below.
  }
  throw new CommandError(`${credentialsFile()} is not a valid Terraform credentials file. Repair or remove it.`);
};

/** Replaced atomically and readable by its owner only. */
const writeKept = (credentials: CredentialsFile): void => {
  const path = credentialsFile();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}`;
  try {
    writeFileSync(temporary, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
};

export const keptToken = (host: string): string | undefined => readKept().credentials?.[host]?.token;

export const keepToken = (host: string, token: string): void => {
  const stored = readKept();
  writeKept({ ...stored, credentials: { ...stored.credentials, [host]: { token } } });
};

/** @returns whether there was one */
export const forgetToken = (host: string): boolean => {
  const stored = readKept();
  if (!stored.credentials?.[host]) return false;
  const { [host]: _, ...others } = stored.credentials;
  writeKept({ ...stored, credentials: others });
  return true;
};

/** `credentials "host" { token = "…" }` in Terraform's own settings. */
export const configuredToken = (host: string, path: string): string | undefined => {
  const block = parseHcl(readText(path) ?? '').blocks.find(
    ({ type, labels }) => type === 'credentials' && labels[0] === host,
  );
  const [, token] = /^"([^"\\$%]+)"$/.exec(block?.attributes.token ?? '') ?? [];
  return token;
};

/** `TF_TOKEN_app_example_com`: dots become underscores, dashes two of them. */
export const tokenVariable = (host: string): string => `TF_TOKEN_${host.replaceAll('-', '__').replaceAll('.', '_')}`;

export interface FoundToken {
  token: string;
  /** The token's source, for messages. */
  from: string;
}

const tokenFrom = (token: string | undefined, from: string): FoundToken | undefined =>
  token ? { token, from } : undefined;

/** Looks where Terraform looks: TF_CLI_CONFIG_FILE replaces all other files. */
export const terraformToken = (host: string): FoundToken | undefined => {
  const named = process.env.TF_CLI_CONFIG_FILE;
  const settings = named || join(home(), '.terraformrc');
  return (
    tokenFrom(process.env[tokenVariable(host)], tokenVariable(host)) ??
    tokenFrom(configuredToken(host, settings), settings) ??
    (named ? undefined : tokenFrom(keptToken(host), credentialsFile()))
  );
};

/** The host with credentials, if there is exactly one. */
export const onlyHost = (): string | undefined => {
  const hosts = Object.keys(readKept().credentials ?? {});
  return hosts.length === 1 ? hosts[0] : undefined;
};
