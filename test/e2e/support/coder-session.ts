import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { coderAtHand, howToHaveCoder } from './coder-tools.ts';
import { newName, organization, platform } from './world.ts';

/** The unmodified coder command line, in its own folder. */

export const coder = coderAtHand();
if (!coder) console.log(`skipped: ${howToHaveCoder}`);

export const template = `
terraform {
  required_providers { coder = { source = "coder/coder", version = "~> 2.13" } }
}
variable "zone" { default = "eu-1a" }
data "coder_workspace" "me" {}
data "coder_workspace_owner" "me" {}
data "coder_parameter" "size" {
  name    = "size"
  type    = "number"
  default = "10"
  mutable = true
  validation {
    min       = 1
    max       = 100
    monotonic = "increasing"
  }
}
data "coder_parameter" "region" {
  name    = "region"
  type    = "string"
  default = "eu"
  mutable = false
  option {
    name  = "Europe"
    value = "eu"
  }
  option {
    name  = "America"
    value = "us"
  }
}
data "coder_workspace_preset" "small" {
  name    = "small"
  default = true
  parameters = {
    (data.coder_parameter.size.name)   = "10"
    (data.coder_parameter.region.name) = "eu"
  }
}
resource "terraform_data" "home" {
  input = "\${data.coder_workspace.me.id} \${data.coder_parameter.region.value} \${var.zone}"
}
resource "terraform_data" "compute" {
  count = data.coder_workspace.me.start_count
  input = { size = data.coder_parameter.size.value, owner = data.coder_workspace_owner.me.name }
}
`;

export interface Ended {
  code: number;
  text: string;
  out: string;
}

/** Names of environments and templates have at most 32 characters. */
export const shortName = (prefix: string): string => `${prefix}${newName('').slice(-9)}`.replaceAll('-', '');

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into at any depth
export const read = async (path: string): Promise<any> => {
  const headers = { 'coder-session-token': platform.token };
  const answer = await fetch(`${platform.environmentsUrl}/api/v2${path}`, { headers });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

/** Signs in. */
export const startSession = async (files: Record<string, string>) => {
  const folder = await mkdtemp(join(tmpdir(), 'coder-session-'));
  await mkdir(join(folder, 'demo'));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, 'demo', name), content);
  const env = {
    PATH: process.env.PATH,
    GOGC: process.env.GOGC,
    HOME: folder,
    CODER_CONFIG_DIR: join(folder, 'config'),
    CODER_URL: platform.environmentsUrl,
    // Other tests create their own organizations.
    CODER_ORGANIZATION: organization,
    NO_COLOR: '1',
  };
  const run = (args: string[], stdin = ''): Promise<Ended> =>
    new Promise((resolve) => {
      const child = execFile(coder as string, args, { env, cwd: folder, timeout: 100_000 }, (error, out, errors) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, text: `${out}${errors}`, out }),
      );
      // A program that has exited does not read its input.
      child.stdin?.on('error', () => {});
      child.stdin?.end(stdin);
    });
  const succeeds = async (args: string[], stdin?: string): Promise<Ended> => {
    const ended = await run(args, stdin);
    expect(ended.code, `coder ${args.join(' ')}\n${ended.text}`).toBe(0);
    return ended;
  };
  await succeeds(['login', platform.environmentsUrl ?? '', '--token', platform.token]);
  return { folder, run, succeeds };
};
