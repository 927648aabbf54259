import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { platform } from './world.ts';

/** Starts agents, which run beside the platform. */

const command = fileURLToPath(new URL('../../../functions/clients/cli/stepform.mjs', import.meta.url));
const agents: ChildProcess[] = [];

export const startAgent = (name: string, token: string, more: string[] = []) => {
  const words = [command, 'agent', '--name', name, '--address', platform.url, ...more];
  const agent = spawn(process.execPath, words, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, STEPFORM_AGENT_TOKEN: token },
  });
  agents.push(agent);
  const output = { text: '' };
  for (const stream of [agent.stdout, agent.stderr]) {
    stream.on('data', (part: Buffer) => {
      output.text += part;
    });
  }
  const ended = new Promise<number | null>((resolve) => agent.once('close', resolve));
  return { agent, output, ended };
};

export const stopAgents = (): void => {
  for (const agent of agents) agent.kill('SIGKILL');
};
