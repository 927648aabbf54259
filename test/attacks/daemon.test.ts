import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { newWorkspace, readLog, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';

const commands = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [readFileSync(`/proc/${name}/cmdline`, 'latin1')];
      } catch {
        return [];
      }
    });

/** A daemon of its own session, whose parent has ended; and one that also cleared its environment and left the folder. */
const daemons = [
  { seconds: `86400.${process.pid}1`, start: '' },
  ...(separatesUsers ? [{ seconds: `86400.${process.pid}2`, start: 'cd /; env -i ' }] : []),
];

it.runIf(process.platform === 'linux')(`daemons of a run end with its apply${notSeparated}`, async () => {
  const all = daemons.map(({ start, seconds }) => `(${start}setsid sleep ${seconds} >/dev/null 2>&1 </dev/null &)`);
  const main = `resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = ${JSON.stringify(`${all.join('; ')}; sleep 0.5; echo "started them"`)}
  }
}
`;
  const run = await startRun(await newWorkspace({ 'auto-apply': true }), { 'main.tf': main });
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  expect(await readLog(run, 'apply')).toContain('started them');
  const isDaemon = (command: string) => daemons.some(({ seconds }) => command.includes(seconds));
  await expect.poll(() => commands().filter(isDaemon), { timeout: 10_000 }).toEqual([]);
});
