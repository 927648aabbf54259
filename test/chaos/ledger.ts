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

/** Resources that tell the ledger of themselves. Each takes `seconds` to be made, and prints a secret on the way. */
export const configuration = (ledger: string, workspace: string, names: string[], seconds: number): string => {
  const note = (what: string) =>
    `command = "echo $(date +%s%3N) ${what} ${workspace} $TFE_RUN_ID $\{self.id} >> ${ledger}`;
  // Of a resource that is not in the configuration any more, Terraform would not tell.
  return `variable "canary" {}
resource "terraform_data" "all" {
  for_each = toset(${JSON.stringify(names)})
  input    = sha256(var.canary)
  provisioner "local-exec" {
    ${note('create')}; echo $CANARY ${'$'}{var.canary}; sleep ${seconds}"
  }
  provisioner "local-exec" {
    when    = destroy
    ${note('destroy')}"
  }
}
output "names" {
  value = ${JSON.stringify(names)}
}
`;
};
