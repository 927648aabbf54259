import { execFile } from 'node:child_process';
import type { Emulator } from './emulator.ts';

/** `stepform verify` against the deployment to the emulator. */

interface Verified {
  checks: { name: string; result: string; text: string }[];
}

/** Results other than `ok`, with the reason on this emulator. */
const expected: Record<string, string> = {
  // It upgrades connections to WebSocket APIs only, and refuses others itself.
  'socket upgrade': 'failed',
  'environment log': 'failed',
  // Routes are resources of their own there (openapi.ts).
  stack: 'differs',
  // Its events of executions have no cause.
  'execution stopped': 'differs',
  quotas: 'skipped',
  'price list': 'skipped',
  'provider cache': 'skipped',
  // Functions call no address of this machine.
  'signed requests': 'skipped',
};

/** The emulator and its functions share this machine with other tests. */
const isOnlySlow = /; documented: \d+ s at most$/;

/** @param options of Node  @returns texts of problems */
export const verifyProblems = async ({ environment }: Emulator, options: string): Promise<string[]> => {
  const output = await new Promise<string>((resolve, reject) => {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment, NODE_OPTIONS: options };
    const args = ['functions/clients/cli/stepform.mjs', 'verify', '--json'];
    execFile(process.execPath, args, { env }, (_, stdout, stderr) =>
      stdout ? resolve(stdout) : reject(new Error(`stepform verify: ${stderr}`)),
    );
  });
  const { checks } = JSON.parse(output) as Verified;
  return checks
    .filter(({ name, result, text }) => result !== (expected[name] ?? 'ok') && !isOnlySlow.test(text))
    .map(({ name, result, text }) => `verify: ${name} ${result}: ${text}`);
};
