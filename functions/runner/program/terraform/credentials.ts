import { genericHost } from '#platform/net/generic-host.ts';
import type { Job } from '#run/protocols/runner.ts';
import type { Settings } from '../settings.ts';
import { Folder } from '../workspace/door.ts';

/**
 * Credentials for `terraform_remote_state` and this platform's registry: the job's token for the platform's host, in the
 * variable or file that Terraform reads. A variable of the workspace with the same name replaces it.
 */

/** Terraform CLI: `TF_TOKEN_` and the host with `.` as `_` and `-` as `__`. */
const variableOf = (host: string): string => `TF_TOKEN_${host.replaceAll('-', '__').replaceAll('.', '_')}`;

const genericHostBlock = (host: string): string => `host "${genericHost}" {
  services = {
    "tfe.v2"       = "https://${host}/api/v2/"
    "modules.v1"   = "https://${host}/api/registry/v1/modules/"
    "providers.v1" = "https://${host}/api/registry/v1/providers/"
  }
}
`;

/** A host with a port contains a colon, and shells drop variables with such names. */
const isVariable = (host: string): boolean => /^\w+$/.test(variableOf(host));

export const tokenVariables = ({ stateToken }: Job, { hosts }: Settings): Record<string, string> =>
  Object.fromEntries([genericHost, ...hosts].filter(isVariable).map((host) => [variableOf(host), stateToken]));

/** Writes the file that `terraform login` writes, for hosts with a port; also configures the generic host. */
export const keepCredentials = (home: string, { stateToken }: Job, { hosts }: Settings): void => {
  const hostsWithPort = hosts.filter((host) => !isVariable(host));
  const credentials = Object.fromEntries(hostsWithPort.map((host) => [host, { token: stateToken }]));
  Folder.at(home, (above) => {
    above.makeFolder('.terraform.d', 0o700);
    above.within('.terraform.d', (folder) => {
      if (hosts[0]) folder.write('registry.tfrc', genericHostBlock(hosts[0]), 0o600);
      if (hostsWithPort.length > 0) folder.write('credentials.tfrc.json', JSON.stringify({ credentials }), 0o600);
    });
  });
};
