import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseExactly } from '#platform/formats/exact-json.ts';
import type { ComparedJson } from '#runner/plan-file/json.ts';
import { type PlanFile, readPlanFile } from '#runner/plan-file/plan-file.ts';

/**
 * A configuration whose plan has every action that Terraform's built-in provider supports, and the Terraform to plan
 * it.
 */

const folder = mkdtempSync(join(tmpdir(), 'plan-file-'));
export const removePlans = (): void => rmSync(folder, { recursive: true });

const terraform = (...parameters: string[]): string =>
  execFileSync('terraform', parameters, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 2 ** 20,
    env: { ...process.env, CHECKPOINT_DISABLE: '1', TF_IN_AUTOMATION: '1' },
  });

const write = (files: Record<string, string>): void => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
};

/** Plans the second configuration. */
export const planned = async (...flags: string[]): Promise<{ file: PlanFile; json: ComparedJson }> => {
  terraform('plan', '-input=false', '-out=plan.tfplan', '-var=given=["of the run", 1.5]', ...flags);
  const json = parseExactly(terraform('show', '-json', 'plan.tfplan')) as ComparedJson;
  return { file: await readPlanFile(readFileSync(join(folder, 'plan.tfplan'))), json };
};

export const keys = [
  'plain',
  'a.b',
  'quo"te',
  'back\\slash',
  '$${x}',
  '%%{if}',
  'line\\nfeed',
  'é😀',
  '\\u0007',
  '$$',
  '',
];
const names = keys.map((key) => `"${key.replace('quo"te', 'quo\\"te').replace('back\\slash', 'back\\\\slash')}"`);

const nested = `
terraform {
  required_providers {
    other = { source = "terraform.io/builtin/terraform" }
  }
}
variable "name" {}
resource "terraform_data" "inner" {
  for_each = toset([${names.join(', ')}])
  input    = { (var.name) = each.key }
}
resource "terraform_data" "counted" {
  count = 3
  input = count.index
}
output "ids" {
  value = [for one in terraform_data.counted : one.id]
}
`;

const values = `{
    text    = "é \\"quoted\\" \${"x"}"
    numbers = [0, -1, 127, 128, -33, 65536, 1.5, 0.1, -2.5e300, 1e-7, 9007199254740993, 123456789012345678901234567890, 1.00000000000000000001]
    nothing = null
    list    = tolist(["a", "b"])
    pair    = ["\\"string\\"", "b"]
    set     = toset(["b", "a", "c"])
    map     = tomap({ "x" = true, "y" = false })
    empty   = { list = [], object = {}, text = "" }
    deep    = [[[{ a = [1, { b = "c" }] }]]]
    long    = "${'x'.repeat(70_000)}"
    many    = [${Array.from({ length: 40 }, (_, i) => i).join(', ')}]
  }`;

const configuration = (which: 'before' | 'after') => {
  const now = which === 'after';
  return `
resource "terraform_data" "kept" {
  input = ${values}
}
resource "terraform_data" "changed" {
  input = "${which}"
}
resource "terraform_data" "replaced" {
  input            = [terraform_data.changed.output, "known"]
  triggers_replace = "${which}"
}
resource "terraform_data" "replaced_first" {
  triggers_replace = { a = "${which}" }
  lifecycle {
    create_before_destroy = true
  }
}
${now ? '' : 'resource "terraform_data" "deleted" {\n  input = toset([1, 2])\n}'}
${now ? '' : 'resource "terraform_data" "forgotten" {\n  input = 1\n}'}
resource "terraform_data" "${now ? 'moved' : 'old'}" {
  for_each = toset([${names.join(', ')}])
  input    = each.key
}
${
  now
    ? `moved {
  from = terraform_data.old
  to   = terraform_data.moved
}
removed {
  from = terraform_data.forgotten
  lifecycle {
    destroy = false
  }
}
import {
  to = terraform_data.imported
  id = "some-id"
}
resource "terraform_data" "imported" {}
resource "terraform_data" "created" {
  input = {
    unknown = terraform_data.new.id
    known   = { a = [1, null], b = ${values} }
    set     = toset([terraform_data.new.id, "z", "a"])
    list    = [terraform_data.new.id, "known", terraform_data.replaced.id]
    map     = tomap({ a = terraform_data.new.id, b = "known" })
  }
}
resource "terraform_data" "new" {}
data "terraform_remote_state" "read" {
  backend = "local"
  config = {
    path = "\${path.module}/other.tfstate"
  }
  depends_on = [terraform_data.new]
}`
    : ''
}
module "m" {
  source   = "./nested"
  for_each = toset([${names.join(', ')}])
  name     = each.key
}
module "n" {
  source = "./nested"
  count  = ${now ? 1 : 2}
  name   = "n"
}
variable "given" {
  type    = any
  default = null
}
variable "unused" {
  default = { a = 1 }
}
check "passes" {
  assert {
    condition     = var.given != "x"
    error_message = "given is x"
  }
}
check "fails" {
  assert {
    condition     = terraform_data.changed.input == "other"
    error_message = "it is not other"
  }
}
variable "secret" {
  default   = "hidden"
  sensitive = true
}
output "plain" {
  value = ${values}
}
output "changed" {
  value = ["${which}", terraform_data.changed.output]
}
output "sensitive" {
  value     = { secret = var.secret, ids = module.n[0].ids }
  sensitive = true
}
output "${now ? 'new' : 'gone'}" {
  value = ${now ? 'terraform_data.new.id' : '"gone"'}
}
output "nothing" {
  value = null
}
`;
};

const other = JSON.stringify({
  version: 4,
  terraform_version: '1.11.4',
  serial: 1,
  lineage: 'x',
  outputs: { a: { value: 'b', type: 'string' } },
  resources: [],
});

/** Applies the first configuration, so that the second one changes something. */
export const begin = (): void => {
  write({ 'main.tf': configuration('before'), 'nested/main.tf': nested, 'other.tfstate': other });
  terraform('init', '-input=false');
  terraform('apply', '-auto-approve', '-input=false');
  write({ 'main.tf': configuration('after') });
};
