import { describe, expect, it } from 'vitest';
import { InitOutput } from '#runner/program/init-output.ts';

const esc = '\u001B';

const shown = (text: string, size = 7): string => {
  let written = '';
  const output = new InitOutput((bytes) => {
    written += bytes.toString('utf8');
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) output.push(bytes.subarray(at, at + size));
  output.end();
  return written;
};

/** Output of terraform 1.11.4. */
const backend = `${esc}[0m${esc}[1mInitializing the backend...${esc}[0m
${esc}[0m${esc}[32m
Successfully configured the backend "local"! Terraform will automatically
use this backend unless the backend configuration changes.${esc}[0m
`;
const success = `
${esc}[0m${esc}[1m${esc}[32mTerraform has been successfully initialized!${esc}[0m${esc}[32m${esc}[0m
`;

describe('the output of terraform init', () => {
  it('is empty without downloads', () => {
    const modules = `${esc}[0m${esc}[1mInitializing modules...${esc}[0m\n- vpc in modules/vpc\n`;
    const providers = `${esc}[0m${esc}[1mInitializing provider plugins...${esc}[0m\n- terraform.io/builtin/terraform is built in to Terraform\n`;
    expect(shown(`${backend}${modules}${providers}${success}`)).toBe('');
  });

  it('shows downloads below their headings', () => {
    const text = `${backend}${esc}[0m${esc}[1mInitializing modules...${esc}[0m
Downloading registry.terraform.io/acme/vpc/aws 5.0.0 for vpc...
- vpc in .terraform/modules/vpc
- own in ./own
${esc}[0m${esc}[1mInitializing provider plugins...${esc}[0m
- Finding latest version of hashicorp/null...
- Installing hashicorp/null v3.2.2...
- Installed hashicorp/null v3.2.2 (signed by HashiCorp)

Terraform has created a lock file ${esc}[1m.terraform.lock.hcl${esc}[0m to record the provider
selections it made above. Include this file in your version control repository
so that Terraform can guarantee to make the same selections by default when
you run "terraform init" in the future.
${success}`;
    expect(shown(text)).toBe(`Initializing modules...
Downloading registry.terraform.io/acme/vpc/aws 5.0.0 for vpc...
- vpc in .terraform/modules/vpc
Initializing provider plugins...
- Finding latest version of hashicorp/null...
- Installing hashicorp/null v3.2.2...
- Installed hashicorp/null v3.2.2 (signed by HashiCorp)

`);
  });

  it('shows errors and warnings unchanged, with empty lines and colors', () => {
    const box = `${esc}[31m╷${esc}[0m${esc}[0m
${esc}[31m│${esc}[0m ${esc}[0m${esc}[1m${esc}[31mError: ${esc}[0m${esc}[0m${esc}[1mFailed to query available provider packages${esc}[0m

${esc}[31m│${esc}[0m ${esc}[0mInitializing the backend... is not what failed
${esc}[31m╵${esc}[0m${esc}[0m
`;
    expect(shown(`${backend}${box}`)).toBe(`${box}\n`);
  });

  it('keeps the layout of errors without boxes, which Terraform writes without colors', () => {
    const problem = `Error: Unclosed configuration block

  on main.tf line 1, in resource "terraform_data" "a":
   1: resource "terraform_data" "a" {

There is no closing brace for this block before the end of the file.
`;
    expect(shown(`Initializing the backend...\n\n${problem}\n`)).toBe(`${problem}\n`);
  });

  it('shows errors of versions without boxes, even right after hidden lines', () => {
    expect(shown('Initializing the backend...\nError: Failed to read\nthe configuration')).toBe(
      'Error: Failed to read\nthe configuration\n\n',
    );
  });
});
