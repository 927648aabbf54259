import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { endProcesses } from '../../../functions/runner/terraform/leftover-processes.ts';
import { takeUsers, type User } from '../../../functions/runner/terraform/users.ts';

const asRoot = describe.runIf(process.platform === 'linux' && process.getuid?.() === 0);

const alive = ({ owner }: User): number =>
  readdirSync('/proc').filter((name) => {
    try {
      const status = readFileSync(`/proc/${name}/status`, 'latin1');
      return new RegExp(`^Uid:\\t${owner?.uid}\\t`, 'm').test(status) && !/^State:\s+[ZX]/m.test(status);
    } catch {
      return false;
    }
  }).length;

/** Linux: the process id after which the next one is looked for (CONFIG_CHECKPOINT_RESTORE). */
const lastPid = '/proc/sys/kernel/ns_last_pid';

asRoot('users of Terraform', () => {
  it('are different for each runner, and none of their processes survives: no daemon, no chain of forks', async () => {
    const [one, two] = await Promise.all([takeUsers(''), takeUsers('')]);
    const ids = [one, two].flatMap((users) => Object.values(users).map(({ owner }) => owner?.uid));
    expect(new Set(ids).size).toBe(6);
    const { plan } = one;
    const start = (script: string) =>
      spawnSync('/bin/sh', ['-c', script], {
        ...plan.owner,
        cwd: '/',
        env: { PATH: process.env.PATH },
        stdio: 'ignore',
      });
    start('(setsid sleep 1000 &) ; (env -i setsid sleep 1000 &)');
    start(`setsid sh -c 'chain() { [ $1 -gt 1000 ] || { sleep 0.01; chain $(($1 + 1)) & }; }; chain 0' &`);
    expect(alive(plan)).toBeGreaterThan(0);
    expect(await endProcesses(plan)).toBe(true);
    expect(alive(plan)).toBe(0);
  });

  it.runIf(existsSync(lastPid))('are told from another process that had the same id', async () => {
    const { plan } = await takeUsers('');
    const sleep = (owner = {}) => spawn('sleep', ['1000'], { ...owner, detached: true, stdio: 'ignore' });
    let reused: ChildProcess | undefined;
    // Other programs start processes meanwhile.
    for (let n = 0; n < 100 && !reused; n++) {
      const ours = sleep();
      expect(await endProcesses(plan)).toBe(true);
      expect(ours.exitCode ?? ours.signalCode).toBeNull();
      const gone = once(ours, 'exit');
      ours.kill('SIGKILL');
      await gone;
      writeFileSync(lastPid, String(Number(ours.pid) - 1));
      const next = sleep(plan.owner);
      if (next.pid === ours.pid) reused = next;
      else next.kill('SIGKILL');
    }
    expect(alive(plan)).toBe(1);
    expect(await endProcesses(plan)).toBe(true);
    const left = alive(plan);
    reused?.kill('SIGKILL');
    expect(left).toBe(0);
  });

  it('can be turned off', async () => {
    const { plan, reader } = await takeUsers('none');
    expect([plan.owner, reader.owner]).toEqual([undefined, undefined]);
  });
});

describe.runIf(process.platform === 'linux')('without a separate user for Terraform', () => {
  it('a daemon is found by the mark in its environment, without ending others', async () => {
    const { plan } = await takeUsers('none');
    const daemon = spawn('sleep', ['1000'], { detached: true, env: { STEPFORM_JOB: plan.mark }, stdio: 'ignore' });
    const bystander = spawn('sleep', ['1000'], { detached: true, env: { STEPFORM_JOB: 'another' }, stdio: 'ignore' });
    const ended = new Promise((resolve) => daemon.once('exit', (_, signal) => resolve(signal)));
    expect(await endProcesses(plan)).toBe(true);
    expect(await ended).toBe('SIGKILL');
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    bystander.kill('SIGKILL');
  });
});
