import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseHcl } from '#platform/formats/hcl.ts';
import { genericHost } from '#platform/net/generic-host.ts';
import { configuredToken, home, readText } from './credentials.ts';

/**
 * A file of our own among Terraform's settings: with it, Terraform finds a server by one name on every port, over plain
 * HTTP on this machine, without a certificate or variables (Terraform: CLI configuration, `host` blocks). Terraform
 * reads every `*.tfrc` file in that folder, unless TF_CLI_CONFIG_FILE is set.
 */

export const hostFile = (): string => join(home(), '.terraform.d', 'stepform.tfrc');

/** @param url of the server @returns HCL */
export const hostSettings = (url: string, token: string): string => {
  const services = {
    'tfe.v2': '/api/v2/',
    'tfe.v2.1': '/api/v2/',
    'tfe.v2.2': '/api/v2/',
    'state.v2': '/api/v2/',
    'modules.v1': '/api/registry/v1/modules/',
    'providers.v1': '/api/registry/v1/providers/',
  };
  const lines = Object.entries(services).map(([service, path]) => `    "${service}" = "${url}${path}"\n`);
  return `host "${genericHost}" {\n  services = {\n${lines.join('')}  }\n}\ncredentials "${genericHost}" {\n  token = "${token}"\n}\n`;
};

/** Readable by its owner only. */
export const writeHostFile = (url: string, token: string): void => {
  const path = hostFile();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  rmSync(path, { force: true });
  writeFileSync(path, `# Written by "stepform login", removed by "stepform logout".\n${hostSettings(url, token)}`, {
    mode: 0o600,
    flag: 'wx',
  });
};

/** URL of the server that the generic name stands for; undefined without the file. */
export const hostUrl = (): string | undefined => {
  const block = parseHcl(readText(hostFile()) ?? '').blocks.find(
    ({ type, labels }) => type === 'host' && labels[0] === genericHost,
  );
  return /"tfe\.v2"\s*=\s*"([^"]+)\/api\/v2\/"/.exec(block?.attributes.services ?? '')?.[1];
};

/** Token of the server that the generic name stands for. */
export const hostToken = (): string | undefined => configuredToken(genericHost, hostFile());

/** @returns whether the generic name stood for this server */
export const removeHostFile = (url: string): boolean => {
  if (hostUrl() !== url) return false;
  rmSync(hostFile());
  return true;
};
