import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentWork } from '../protocols/agent.ts';

/** Starts the runner as a child process with a claim; it then talks to the control plane itself. */

const runner = fileURLToPath(new URL('../runner/main.ts', import.meta.url));

/** Variables with tokens, which the runner does not get. */
const secret = /^(TFC_AGENT_TOKEN|STEPFORM_AGENT_TOKEN|TFE_TOKEN|TF_TOKEN_.*)$/;

export interface RunnerEnvironment {
  /** Base URL of the control plane. */
  address: string;
  /** Names, with ports, by which Terraform reaches it. */
  hosts: string[];
  /** Variables of the agent's own environment that Terraform may see. */
  passOn: string[];
}

const environmentFor = ({ claim }: AgentWork, { address, hosts, passOn }: RunnerEnvironment): NodeJS.ProcessEnv => {
  const own = Object.entries(process.env).filter(([name]) => !secret.test(name));
  return {
    // A private certificate authority, configured as for Terraform.
    ...(process.env.SSL_CERT_FILE ? { NODE_EXTRA_CA_CERTS: process.env.SSL_CERT_FILE } : {}),
    ...Object.fromEntries(own),
    STEPFORM_URL: address,
    STEPFORM_HOSTS: [...new Set(hosts)].join(','),
    STEPFORM_PASS_ON: passOn.join(','),
    STEPFORM_CLAIM: claim,
    STEPFORM_PROVIDER_CACHE: join(process.env.STEPFORM_CACHE || join(homedir(), '.cache', 'stepform'), 'providers'),
  };
};

/** In a process group of its own: Ctrl-C goes to the agent, which decides what happens to its work. */
export const startRunner = (work: AgentWork, surroundings: RunnerEnvironment): ChildProcess => {
  const folder = mkdtempSync(join(tmpdir(), 'stepform-agent-'));
  // Terraform's user, if it has one of its own, must be able to enter it.
  chmodSync(folder, 0o711);
  // Without the flag, SIGUSR1 from any process of the same user opens Node's inspector, which exposes the runner's token.
  const child = spawn(process.execPath, ['--disable-sigusr1', runner], {
    env: { ...environmentFor(work, surroundings), TMPDIR: folder },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  // A runner removes its own files, unless it was killed.
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 2 });
  child.once('error', remove).once('exit', remove);
  return child;
};

/** How the runner ended, for people. */
export const ended = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(`it could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
