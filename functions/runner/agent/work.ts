import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { programFile } from '#platform/program.ts';
import type { AgentWork } from '#run/protocols/agent.ts';

import { separationIn } from '#runner/program/settings.ts';
import { notKeptApart } from '#runner/program/terraform/separation.ts';
import { removeFolder } from '#runner/program/workspace/remove-folder.ts';

/** Starts the runner as a child process with a claim; it then calls the control plane itself. */

const runner = programFile('functions/runner/program/main.ts');

/** Variables with tokens, which are hidden from the runner. */
const secret = /^(TFC_AGENT_TOKEN|STEPFORM_AGENT_TOKEN|TFE_TOKEN|TF_TOKEN_.*)$/;

/** Missing separation between runs on this machine, for the agent's operator. @throws {Error} for a wrong setting */
export const separationProblems = (): Promise<string[]> => notKeptApart(separationIn());

export interface RunnerEnvironment {
  /** Base URL of the control plane. */
  address: string;
  /** Host names, with ports, at which Terraform reaches the platform. */
  hosts: string[];
  /** Variables of the agent's own environment that Terraform may see. */
  passOn: string[];
}

const cache = (): string => process.env.STEPFORM_CACHE || join(homedir(), '.cache', 'stepform');

/** Folder where its runners keep states that they cannot upload; the agents of one machine share it. */
export const keptStatesFolder = (): string => process.env.STEPFORM_UNSAVED_STATES || join(cache(), 'unsaved-states');

/** The agent's environment without its tokens, and the runner's settings. */
export const environmentFor = (
  { claim }: Pick<AgentWork, 'claim'>,
  { address, hosts, passOn }: RunnerEnvironment,
): NodeJS.ProcessEnv => {
  const environment = Object.entries(process.env).filter(([name]) => !secret.test(name));
  return {
    // A private certificate authority, configured as for Terraform.
    ...(process.env.SSL_CERT_FILE ? { NODE_EXTRA_CA_CERTS: process.env.SSL_CERT_FILE } : {}),
    ...Object.fromEntries(environment),
    STEPFORM_URL: address,
    STEPFORM_HOSTS: [...new Set(hosts)].join(','),
    STEPFORM_PASS_ON: passOn.join(','),
    STEPFORM_CLAIM: claim,
    STEPFORM_PROVIDER_CACHE: join(cache(), 'providers'),
  };
};

/** Starts the runner in its own process group: Ctrl-C reaches only the agent, which then stops its work in order. */
export const startRunner = (work: AgentWork, surroundings: RunnerEnvironment): ChildProcess => {
  const folder = mkdtempSync(join(tmpdir(), 'stepform-agent-'));
  // Terraform's own user, if any, must be able to enter it.
  chmodSync(folder, 0o711);
  // Without the flag, SIGUSR1 from any process of the same user opens Node's inspector, which exposes the runner's token.
  const child = spawn(process.execPath, ['--disable-sigusr1', runner], {
    env: { ...environmentFor(work, surroundings), TMPDIR: folder },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  // A runner removes its own files, unless it was killed.
  const remove = () =>
    void removeFolder(folder).catch((error: Error) => console.error(`could not remove ${folder}: ${error.message}`));
  child.once('error', remove).once('exit', remove);
  return child;
};

/** Kills the runner and its process group. */
export const killRunner = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/** How the runner ended, as text. */
export const ended = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(`it could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
