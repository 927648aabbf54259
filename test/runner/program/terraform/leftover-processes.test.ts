import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { endProcesses } from '#runner/program/terraform/leftover-processes.ts';
import type { User } from '#runner/program/terraform/users.ts';
import { newUsers } from './new-users.ts';

const start = ({ owner }: User, script: string) =>
  spawnSync('/bin/sh', ['-c', script], { ...owner, cwd: '/', env: { PATH: process.env.PATH }, stdio: 'ignore' });

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

asRoot('users of Terraform', () => {
  it('are different for each runner, and all of their processes are ended, even daemons and chains of forks', async () => {
    const [one, two] = [newUsers(), newUsers()];
    const ids = [one, two].flatMap(({ plan, apply, reader }) => [plan, apply, reader].map(({ owner }) => owner?.uid));
    expect(new Set(ids).size).toBe(6);
    const { plan } = one;
    start(plan, '(setsid sleep 1000 &) ; (env -i setsid sleep 1000 &)');
    start(plan, `setsid sh -c 'chain() { [ $1 -gt 1000 ] || { sleep 0.01; chain $(($1 + 1)) & }; }; chain 0' &`);
    expect(alive(plan)).toBeGreaterThan(0);
    expect(await endProcesses(plan)).toBe(true);
    expect(alive(plan)).toBe(0);
  });

  it('are ended, even chains whose processes exist for less time than a scan takes', async () => {
    const { plan, folder } = newUsers();
    const marks = join(folder, 'marks');
    writeFileSync(marks, '');
    chmodSync(marks, 0o666);
    start(plan, `setsid sh -c 'chain() { echo >> ${marks}; chain & }; chain' &`);
    await expect.poll(() => statSync(marks).size).toBeGreaterThan(100);
    expect(await endProcesses(plan)).toBe(true);
    const { size } = statSync(marks);
    await sleep(100);
    expect(statSync(marks).size).toBe(size);
  });

  it('can be turned off', () => {
    const { plan, reader } = newUsers({ terraformUsers: 'none' });
    expect([plan.owner, reader.owner]).toEqual([undefined, undefined]);
  });
});

describe.runIf(process.platform === 'linux')('if Terraform has no separate user', () => {
  it('a daemon is found by the mark in its environment, without ending others', async () => {
    const { plan } = newUsers({ terraformUsers: 'none' });
    const daemon = spawn('sleep', ['1000'], { detached: true, env: { STEPFORM_JOB: plan.mark }, stdio: 'ignore' });
    const bystander = spawn('sleep', ['1000'], { detached: true, env: { STEPFORM_JOB: 'another' }, stdio: 'ignore' });
    const ended = new Promise((resolve) => daemon.once('exit', (_, signal) => resolve(signal)));
    expect(await endProcesses(plan)).toBe(true);
    expect(await ended).toBe('SIGKILL');
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    bystander.kill('SIGKILL');
  });
});
