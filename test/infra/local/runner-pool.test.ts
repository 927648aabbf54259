import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { synthesize } from '#infra/build/synth.ts';
import { RunnerPool, runnerArguments } from '#infra/local/aws/ecs/runner-pool.ts';
import { startOf } from '#infra/local/host/processes.ts';
import { archive, Bench, jobFor, type Options, textOf } from '#test/runner/program/support.ts';
import { until } from './support/until.ts';

const bench = Bench.use();

/** Open files and pipes. Connections to the platform stay open for a while, and their number depends on the load. */
const filesOf = (pid: number | undefined): string[] =>
  readdirSync(`/proc/${pid}/fd`)
    .map((file) => readlinkSync(`/proc/${pid}/fd/${file}`))
    .filter((target) => !target.startsWith('socket:'));

/** The runner's own program, with Terraform. */
const open = async () => {
  const { bundles } = await synthesize();
  const base = { PATH: process.env.PATH ?? '', HOME: bench.directory };
  const args = runnerArguments(bundles.runnerProgram, join(bench.directory, 'ports.json'));
  const log = join(bench.directory, 'runners.log');
  const pool = new RunnerPool({ file: process.execPath, args, cwd: '/', env: base, log });
  let tasks = 0;
  const perform = async (configuration: string, options: Options = {}) => {
    tasks += 1;
    const folder = join(bench.directory, 'tmp', `task-${tasks}`);
    mkdirSync(folder, { mode: 0o711 });
    const log = join(bench.directory, `${tasks}.log`);
    const job = jobFor(bench.plane, await archive({ 'main.tf': configuration }), options);
    const { claim, record } = bench.plane.offer(job);
    const environment = {
      ...base,
      TMPDIR: folder,
      STEPFORM_URL: bench.plane.url,
      STEPFORM_CLAIM: claim,
      STEPFORM_CACHE: join(bench.directory, 'cache'),
    };
    const ended = Promise.withResolvers<number | undefined>();
    const { pid } = pool.perform({ folder, environment, log }, 0, ended.resolve);
    const code = await ended.promise;
    const files = process.platform === 'linux' ? filesOf(pid).length : 0;
    return { code, pid, files, left: readdirSync(folder), record, said: readFileSync(log, 'utf8') };
  };
  return { pool, perform };
};

const showing = (word: string): string => `output "word" { value = "${word}" }`;

it('a runner process keeps no file, folder, secret or output of a task for the next one', async () => {
  const { pool, perform } = await open();
  const secret = { key: 'password', value: 'of-the-first-task', category: 'env' as const, sensitive: true };
  const first = await perform(showing('of-the-first-task'), { variables: [secret] });
  expect(textOf(first.record)).not.toContain('of-the-first-task');
  const second = await perform(showing('of-the-first-task'));
  // Only the first task's secrets would mask it.
  expect(textOf(second.record)).toContain('of-the-first-task');
  const failed = await perform('resource "nosuch_thing" "a" {}');
  expect(failed.record.report?.outcome).toBe('errored');
  const last = await perform(showing('last'));
  for (const { code, pid, files, left, said } of [first, second, failed, last]) {
    expect({ code, pid, files, left }).toEqual({ code: 0, pid: first.pid, files: first.files, left: [] });
    expect(said.match(/"phase ended"/g)).toHaveLength(1);
  }
  pool.close();
  await until('the process is gone', () => startOf(first.pid) === undefined);
});

it('a task at low priority takes an idle process, and one at normal priority never has a process at low priority', async () => {
  const program = join(bench.directory, 'program.mjs');
  writeFileSync(program, 'export const runTask = async () => 0;');
  const args = runnerArguments(program, join(bench.directory, 'ports.json'));
  const env = { PATH: process.env.PATH ?? '' };
  const log = join(bench.directory, 'runners.log');
  const pool = new RunnerPool({ file: process.execPath, args, cwd: '/', env, log });
  const perform = async (niceness: number): Promise<number> => {
    const ended = Promise.withResolvers<unknown>();
    const { pid } = pool.perform({ folder: bench.directory, environment: env, log }, niceness, ended.resolve);
    await ended.promise;
    return pid;
  };
  const normal = await perform(0);
  expect(await perform(5)).toBe(normal);
  expect(await perform(0)).toBe(normal);
  const running = perform(0);
  const low = await perform(5);
  expect(low).not.toBe(await running);
  await Promise.all([perform(0), perform(0)]).then((both) => expect(both).not.toContain(low));
  pool.close();
  await until('the processes are gone', () => startOf(normal) === undefined && startOf(low) === undefined);
});
