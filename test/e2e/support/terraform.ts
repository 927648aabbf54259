import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll } from 'vitest';
import { genericHost } from '#platform/net/generic-host.ts';
import { client, newName, organization, platform, type Resource } from './world.ts';

/** The real terraform in a directory, as a user runs it, against the platform over HTTPS. */

export const { host } = new URL(platform.httpsUrl ?? platform.url);

let root: string | undefined;
const running = new Set<ChildProcess>();

/** Ends running commands, and removes all directories. */
export const endCommands = (): void => {
  for (const child of running) child.kill('SIGKILL');
  if (root) rmSync(root, { recursive: true, force: true });
  root = undefined;
};
afterAll(endCommands);

const newDirectory = (): string => {
  root ??= mkdtempSync(join(tmpdir(), 'stepform-cli-'));
  chmodSync(root, 0o711);
  const path = join(root, newName('dir'));
  // terraform keeps credentials there; it does not create the directory itself.
  mkdirSync(join(path, 'home', '.terraform.d'), { recursive: true });
  // Terraform of a run, possibly as another user, reads and writes files there.
  chmodSync(path, 0o777);
  return path;
};

export interface Ended {
  code: number | null;
  /** Standard output and error in order, without colors. */
  text: string;
}

/** A running command: tests wait for its output and answer its questions. */
export class Command {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #parts: Buffer[] = [];
  #heard = (): void => {};
  readonly ended: Promise<Ended>;

  constructor(child: ChildProcess, name: string) {
    this.#child = child;
    this.#name = name;
    running.add(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (part: Buffer) => {
        this.#parts.push(part);
        this.#heard();
      });
    }
    // A program that has exited does not read the answer.
    child.stdin?.on('error', () => {});
    this.ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => {
        running.delete(child);
        this.#heard();
        resolve({ code, text: this.text });
      });
    });
  }

  get text(): string {
    return stripVTControlCharacters(Buffer.concat(this.#parts).toString('utf8'));
  }

  /**
   * Waits until it has printed this. @throws {Error} with all its output, if it exits without, or takes longer than
   * `ms`
   */
  async until(expected: string | RegExp, ms = 60_000): Promise<void> {
    const over = AbortSignal.timeout(ms);
    const heard = () => (typeof expected === 'string' ? this.text.includes(expected) : expected.test(this.text));
    while (!heard()) {
      if (over.aborted || !running.has(this.#child)) {
        const why = over.aborted ? `has not said in ${ms} ms` : 'ended without';
        throw new Error(`terraform ${this.#name} ${why} ${expected}:
${this.text}`);
      }
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
        over.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  answer(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Interrupts it, like Ctrl-C. */
  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  /** Closes its input: no further answers. */
  hangUp(): void {
    this.#child.stdin?.end();
  }
}

export interface Settings {
  /** Files to write into the directory; more can follow. */
  files?: Record<string, string>;
  /** Without it, terraform has no token for the platform. */
  token?: string | null;
  env?: Record<string, string>;
  /** Path of another command line than the one on the PATH. */
  program?: string;
}

const credentials = (of: string, token: string): string => `credentials "${of}" {\n  token = "${token}"\n}\n`;
const registry = `host "${genericHost}" {
  services = {
    "modules.v1" = "https://${host}/api/registry/v1/modules/"
    "tfe.v2"     = "https://${host}/api/v2/"
  }
}
`;

/** `state list` or, for an argument with spaces, `['plan', '-var', 'n=a b']`. */
type Arguments = string | string[];

export class Terraform {
  readonly directory = newDirectory();
  readonly #env: Record<string, string>;
  readonly #program: string;

  constructor({ files = {}, token = platform.token, env = {}, program = 'terraform' }: Settings = {}) {
    this.#program = program;
    const home = join(this.directory, 'home');
    const configuration = join(home, 'terraform.rc');
    if (token)
      writeFileSync(configuration, [credentials(host, token), credentials(genericHost, token), registry].join(''));
    this.#env = {
      PATH: process.env.PATH ?? '',
      HOME: home,
      CHECKPOINT_DISABLE: '1',
      GOGC: process.env.GOGC ?? '',
      // With an own configuration file, terraform does not look for the token of `terraform login`.
      ...(token ? { TF_CLI_CONFIG_FILE: configuration } : {}),
      ...(platform.caFile ? { SSL_CERT_FILE: platform.caFile } : {}),
      ...env,
    };
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  /** Creates the folders of its path. */
  write(name: string, content: string): void {
    mkdirSync(dirname(join(this.directory, name)), { recursive: true });
    writeFileSync(join(this.directory, name), content);
  }

  read(name: string): string {
    return readFileSync(join(this.directory, name), 'utf8');
  }

  remove(name: string): void {
    rmSync(join(this.directory, name), { recursive: true });
  }

  start(args: Arguments, env: Record<string, string> = {}): Command {
    const words = typeof args === 'string' ? args.split(' ') : args;
    const child = spawn(this.#program, words, { cwd: this.directory, env: { ...this.#env, ...env } });
    return new Command(child, words.join(' '));
  }

  /** Runs it from start to end, with all answers given in advance. */
  async run(words: Arguments, answers: string[] = []): Promise<Ended> {
    const command = this.start(words);
    for (const answer of answers) command.answer(answer);
    command.hangUp();
    return command.ended;
  }

  /** Its output. @throws {Error} with the output, if it fails */
  async succeed(words: Arguments, answers?: string[]): Promise<string> {
    const { code, text } = await this.run(words, answers);
    if (code !== 0) throw new Error(`terraform ${words} ended with ${code}:\n${text}`);
    return text;
  }

  /** Its output. @throws {Error} with the output, if it does not fail */
  async fail(words: Arguments, answers?: string[]): Promise<string> {
    const { code, text } = await this.run(words, answers);
    if (code !== 1) throw new Error(`terraform ${words} should have failed, but ended with ${code}:\n${text}`);
    // Boxes break lines anywhere.
    return text.replaceAll(/[│╷╵]/g, '').replaceAll(/\s+/g, ' ');
  }
}

const block = (head: string, workspaces: string, more: string): string => `terraform {
  ${head} {
    hostname     = "${host}"
    organization = "${organization}"
    workspaces {
      ${workspaces}
    }
    ${more}
  }
}
`;

export const cloud = (workspaces: string, more = ''): string => block('cloud', workspaces, more);
export const remote = (workspaces: string): string => block('backend "remote"', workspaces, '');

/** A configuration that plans, changes and replaces without downloading a provider. */
export const example = `variable "n" {
  default = "x"
}
resource "terraform_data" "a" {
  input = var.n
}
resource "terraform_data" "b" {
  input = "b"
}
output "n" {
  value = terraform_data.a.output
}
output "secret" {
  value     = "hunter2"
  sensitive = true
}
`;

/** terraform in a new workspace, initialized. */
export const inWorkspace = async (configuration = example): Promise<{ here: Terraform; workspace: Resource }> => {
  const name = newName('cli');
  const here = new Terraform({ files: { 'cloud.tf': cloud(`name = "${name}"`), 'main.tf': configuration } });
  await here.succeed('init -input=false');
  return { here, workspace: await workspaceNamed(name) };
};

export const workspaceNamed = (name: string): Promise<Resource> =>
  client.get(`/organizations/${organization}/workspaces/${name}`);

/** The run in a command's output. */
export const runIn = async (text: string): Promise<Resource> => client.run(/\/runs\/(run-\w+)/.exec(text)?.[1] ?? '');
