import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Job } from '../../protocols/runner.ts';
import type { Settings } from '../settings.ts';

/**
 * What `terraform_remote_state` and the registry of this platform need: the job's token for the platform's host, where
 * Terraform looks for credentials. A variable of the workspace of that name takes its place.
 */

/** Terraform CLI: `TF_TOKEN_` and the host with `.` as `_` and `-` as `__`. */
const variableOf = (host: string): string => `TF_TOKEN_${host.replaceAll('-', '__').replaceAll('.', '_')}`;

/** Whichever platform a run is of, its modules can be named by this host (HCP Terraform: generic hostname). */
const genericHost = 'localterraform.com';

const genericHostBlock = (host: string): string => `host "${genericHost}" {
  services = {
    "modules.v1"   = "https://${host}/api/registry/v1/modules/"
    "providers.v1" = "https://${host}/api/registry/v1/providers/"
  }
}
`;

/** With a port the name has a colon, and shells drop such variables on the way. */
const isVariable = (host: string): boolean => /^\w+$/.test(variableOf(host));

export const tokenVariables = ({ stateToken }: Job, { hosts }: Settings): Record<string, string> =>
  Object.fromEntries([genericHost, ...hosts].filter(isVariable).map((host) => [variableOf(host), stateToken]));

/** For hosts with a port the file that `terraform login` writes; and where the generic host leads to. */
export const keepCredentials = (home: string, { stateToken }: Job, { hosts }: Settings): void => {
  const directory = join(home, '.terraform.d');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (hosts[0]) writeFileSync(join(directory, 'registry.tfrc'), genericHostBlock(hosts[0]), { mode: 0o600 });
  const others = hosts.filter((host) => !isVariable(host));
  if (others.length === 0) return;
  const credentials = Object.fromEntries(others.map((host) => [host, { token: stateToken }]));
  writeFileSync(join(directory, 'credentials.tfrc.json'), JSON.stringify({ credentials }), { mode: 0o600 });
};
