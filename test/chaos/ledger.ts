import { existsSync, readFileSync } from 'node:fs';

/** What became of the real resources, as they tell themselves: a line for each creation and destruction. */
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

/** What a configuration is like. */
export interface Flavor {
  names: readonly string[];
  /** Cannot be planned. */
  broken?: boolean;
  /** Its apply fails once everything has been made. */
  failing?: boolean;
}

/**
 * Resources that tell the ledger of themselves; then one that takes `seconds`. A secret is printed on the way.
 */
export const configuration = (ledger: string, workspace: string, flavor: Flavor, seconds: number): string => {
  const { names, broken = false, failing = false } = flavor;
  const note = (what: string) =>
    `command = "echo $(date +%s%3N) ${what} ${workspace} $TFE_RUN_ID $\{self.id} >> ${ledger}`;
  // Of a resource that is not in the configuration any more, Terraform would not tell.
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
