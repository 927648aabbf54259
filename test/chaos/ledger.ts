import { existsSync, readFileSync } from 'node:fs';

/** History of the real resources, written by their provisioners: one line per creation and destruction. */
export interface Entry {
  /** Milliseconds since 1970. */
  at: number;
  what: 'create' | 'destroy';
  workspace: string;
  run: string;
  id: string;
}

export const readLedger = (file: string): Entry[] =>
  (existsSync(file) ? readFileSync(file, 'utf8') : '')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [at, what, workspace, run, id] = line.split(' ');
      return { at: Number(at), what, workspace, run, id } as Entry;
    });

/** Properties of a configuration. */
export interface Flavor {
  names: readonly string[];
  /** Its plan fails. */
  broken?: boolean;
  /** Its apply fails after all resources were created. */
  failing?: boolean;
}

/** Resources that report to the ledger, then one that takes `seconds`. A secret is printed on the way. */
export const configuration = (ledger: string, workspace: string, flavor: Flavor, seconds: number): string => {
  const { names, broken = false, failing = false } = flavor;
  const note = (what: string) =>
    `command = "echo $(date +%s%3N) ${what} ${workspace} $TFE_RUN_ID $\{self.id} >> ${ledger}`;
  // Terraform runs no destroy provisioner of a resource that is no longer in the configuration.
  return `variable "canary" {}
resource "terraform_data" "all" {
  for_each = toset(${JSON.stringify(names)})
  input    = sha256(var.canary)
  provisioner "local-exec" {
    ${note('create')}; echo $CANARY ${'$'}{var.canary}"
  }
  provisioner "local-exec" {
    when    = destroy
    ${note('destroy')}"
  }
}
resource "terraform_data" "slow" {
  triggers_replace = ${failing ? 'timestamp()' : 'keys(terraform_data.all)'}
  provisioner "local-exec" {
    command = "sleep ${seconds}${failing ? '; exit 1' : ''}"
  }
}
output "names" {
  value = ${broken ? 'nothing.of_that_name' : JSON.stringify(names)}
}
`;
};
