import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { until } from '#test/e2e/support/waiting.ts';
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

const leaves = async (daemon: string, seconds: string) => {
  const main = `resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = ${JSON.stringify(`${daemon}; sleep 0.5; echo "started it"`)}
  }
}
`;
  const run = await startRun(await newWorkspace({ 'auto-apply': true }), { 'main.tf': main });
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  expect(await readLog(run, 'apply')).toContain('started it');
  const alive = async () => commands().filter((command) => command.includes(seconds));
  await until(alive, (match) => match.length === 0, 10_000).catch(() => {});
  return alive();
};

const onLinux = it.runIf(process.platform === 'linux');

onLinux('a daemon of its own session, whose parent has ended, ends with the apply', async () => {
  const seconds = `86400.${process.pid}1`;
  expect(await leaves(`(setsid sleep ${seconds} >/dev/null 2>&1 </dev/null &)`, seconds)).toEqual([]);
});

it.runIf(separatesUsers)(
  `the runner kills a daemon that cleared its environment and left the folder${notSeparated}`,
  async () => {
    const seconds = `86400.${process.pid}2`;
    expect(await leaves(`cd /; (env -i setsid sleep ${seconds} >/dev/null 2>&1 </dev/null &)`, seconds)).toEqual([]);
  },
);
