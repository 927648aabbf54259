import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readKeptState } from '#platform/formats/kept-state.ts';
import type { Job } from '#run/protocols/runner.ts';
import { keptStatePath } from '#runner/program/kept-states.ts';
import { archive, Bench, jobFor, keptStateKey, textOf } from './support.ts';
import { until } from './until.ts';

const bench = Bench.use();

/** Of this file's processes. */
const mark = String(Math.floor(Math.random() * 1e9)).padStart(9, '0');

/** Two resources: the first is created at once, the second takes forever and shows in the process list. */
const long = (command = `echo begun; exec sleep 600.${mark}`) => `
resource "terraform_data" "done" {}
resource "terraform_data" "long" {
  input = terraform_data.done.id
  provisioner "local-exec" {
    command = "${command}"
  }
}
`;

/** Command lines of all processes. */
const processes = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')];
      } catch {
        return [];
      }
    });
const running = (more = '') => processes().some((line) => line.includes(`sleep 600.${mark}${more}`));

const planKey = 'run-1234567890abcdef/plan/plan';
const plans = new Map<string, Buffer | undefined>();

/** An apply in the middle of its second resource, in its own runner. Tests of the same configuration share its plan. */
const applying = async (main = long(), environment = {}, job: Partial<Job> = {}) => {
  const { plane } = bench;
  const configuration = await archive({ 'main.tf': main });
  const plan = plans.get(main);
  if (plan) plane.objects.set(planKey, plan);
  else await bench.run(jobFor(plane, configuration));
  plans.set(main, plane.objects.get(planKey));
  const { claim, record } = plane.offer({ ...bench.applyJob(configuration), heartbeatSeconds: 0.2, ...job });
  const runner = bench.start(claim, environment);
  await until('the long command runs', () => running());
  return { plane, record, runner };
};

const resources = (content: Buffer | undefined) =>
  JSON.parse(content?.toString() ?? '{}').resources?.map(({ name }: { name: string }) => name);

describe('an apply in progress', () => {
  it('stores intermediate states, and is interrupted like with Ctrl-C', async () => {
    const { plane, record, runner } = await applying();
    plane.takesLater = true;
    await until('an intermediate state', () => plane.current());
    expect(plane.current()).toMatchObject({ intermediate: true });
    expect(resources(plane.current()?.content)).toContain('done');
    expect(record.heartbeats).toBeGreaterThan(0);

    plane.signal = 'interrupt';
    expect(await runner.ended).toBe(0);
    expect(record.report).toMatchObject({
      outcome: 'canceled',
      message: 'Terraform was interrupted before it finished.',
      counts: { additions: 1 },
      stateVersionId: plane.current()?.id,
    });
    expect(textOf(record)).toMatch(/Interrupt received[\s\S]+the run was canceled/);
    expect(plane.current()).toMatchObject({ intermediate: false });
    expect(resources(plane.current()?.content)).toEqual(['done', 'long']);
    const json = JSON.parse(plane.objects.get(`${plane.current()?.id}.json`)?.toString() ?? '{}');
    expect(resources(Buffer.from(JSON.stringify(json.values?.root_module ?? {})))).toEqual(['done', 'long']);
    expect(running()).toBe(false);
  });

  it('is killed with its child processes, and its state is stored', async () => {
    // Ignores interrupts, and has left the shell's process group.
    const deaf = long(`(trap '' INT TERM HUP; sleep 600.${mark}) & wait`);
    const { plane, record, runner } = await applying(deaf);
    plane.signal = 'kill';
    expect(await runner.ended).toBe(0);
    expect(record.report).toMatchObject({ outcome: 'canceled', message: 'Terraform was killed before it finished.' });
    expect(resources(plane.current()?.content)).toContain('done');
    expect(running()).toBe(false);
    expect(record.log.at(-1)).toBe(0x03);
  });

  it('ends at once and silently when the token is dead', async () => {
    const { plane, record, runner } = await applying();
    plane.disown();
    expect(await runner.ended).toBe(0);
    expect(running()).toBe(false);
    expect(record.report).toBeUndefined();
    expect(runner.said()).toContain('the control plane has ended this apply');
    // The state that the platform no longer accepts is kept, encrypted.
    const kept = readFileSync(keptStatePath(join(bench.directory, 'cache/unsaved-states'), 'run-1234567890abcdef'));
    expect(resources(readKeptState(kept).open(Buffer.from(keptStateKey.key, 'base64')))).toContain('done');
    expect(bench.leftovers()).toEqual([]);
  });

  it('ends without writing anything when its runner resumes with a revoked token after a freeze', async () => {
    const go = join(bench.directory, 'go');
    const main = `${long(`: sleep 600.${mark}; until [ -e ${go} ]; do sleep 0.05; done`)}
resource "terraform_data" "after" {
  input = terraform_data.long.id
  provisioner "local-exec" {
    command = "sleep 600.${mark}0"
  }
}`;
    const { plane, record, runner } = await applying(main);
    await until('an intermediate state', () => plane.current());
    runner.process.kill('SIGSTOP');
    writeFileSync(go, '');
    await until('Terraform is further than its runner knows', () => running('0'));
    plane.disown();
    plane.expire();
    const before = JSON.stringify([[...plane.objects], plane.states, record.log]);
    runner.process.kill('SIGCONT');
    expect(await runner.ended).toBe(0);
    expect(running()).toBe(false);
    expect(JSON.stringify([[...plane.objects], plane.states, record.log])).toBe(before);
    expect(record.report).toBeUndefined();
    const kept = readFileSync(keptStatePath(join(bench.directory, 'cache/unsaved-states'), 'run-1234567890abcdef'));
    expect(resources(readKeptState(kept).open(Buffer.from(keptStateKey.key, 'base64')))).toContain('long');
    expect(bench.leftovers()).toEqual([]);
    plane.violations.splice(0);
  });

  it('is interrupted by its runner once heartbeats fail', async () => {
    const { plane, record, runner } = await applying(long(), {}, { silentSeconds: 1 });
    await until('a beat', () => record.heartbeats > 0);
    expect(running()).toBe(true);
    plane.fault = (path) => (path.endsWith('/heartbeat') ? 'fail' : undefined);
    expect(await runner.ended).toBe(0);
    expect(record.report).toMatchObject({ outcome: 'errored' });
    expect(resources(plane.current()?.content)).toEqual(['done', 'long']);
    expect(running()).toBe(false);
  });

  it('is interrupted when the host stops the runner, which reports it', async () => {
    const { plane, record, runner } = await applying();
    runner.process.kill('SIGTERM');
    expect(await runner.ended).toBe(0);
    expect(record.report).toMatchObject({
      outcome: 'errored',
      message: 'The runner was stopped before Terraform had finished.',
    });
    expect(resources(plane.current()?.content)).toEqual(['done', 'long']);
    expect(running()).toBe(false);
  });

  it('is interrupted, and its state stored, when the runner itself fails', async () => {
    const throwing = "process.on('SIGUSR2', () => setImmediate(() => { throw new Error('unexpected'); }))";
    const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(throwing)}`;
    const { plane, record, runner } = await applying(long(), { NODE_OPTIONS });
    runner.process.kill('SIGUSR2');
    await runner.ended;
    expect(runner.said()).toContain('Error: unexpected');
    expect(record.report).toMatchObject({ outcome: 'errored' });
    expect(resources(plane.current()?.content)).toEqual(['done', 'long']);
    expect(running()).toBe(false);
  });

  it('ends with the runner, regardless of how the runner ends', async () => {
    const { runner } = await applying();
    runner.process.kill('SIGKILL');
    await runner.ended;
    await until('nothing is left', () => !running());
  });
});

describe('a runner', () => {
  it('that is ready exits on request, and when stopped or superseded', async () => {
    const { plane } = bench;
    const configuration = await archive({ 'main.tf': 'resource "terraform_data" "a" {}' });
    const ready = async () => {
      plane.keepReady();
      plane.calls.length = 0;
      const { claim, record } = plane.offer(jobFor(plane, configuration));
      const runner = bench.start(claim);
      await until('it is ready', () => plane.calls.includes('POST /runner/v1/ready'));
      return { runner, record };
    };
    const stopped = await ready();
    stopped.runner.process.kill('SIGTERM');
    expect(await stopped.runner.ended).toBe(0);

    const exits = await ready();
    plane.ready = { action: 'exit' };
    expect(await exits.runner.ended).toBe(0);
    expect(exits.record.reports).toBe(1);

    // The reservation was withdrawn before the runner claimed it.
    plane.takesLater = true;
    const late = await ready();
    plane.ready = { action: 'claim', claim: 'run-1234567890abcdef.apply' };
    expect(await late.runner.ended).toBe(0);
    expect(late.runner.said()).toContain('no job for this runner: claim: HTTP 410');
    expect(bench.artifact('plan', 'provider-schemas'), 'the deferred upload').toBeDefined();
  });

  it('whose plan is interrupted reports it as canceled', async () => {
    const { plane } = bench;
    plane.signal = 'interrupt';
    const job = jobFor(plane, await archive({ 'main.tf': 'resource "terraform_data" "a" {}' }));
    const { report, code } = await bench.run({ ...job, heartbeatSeconds: 0.02 });
    expect(report).toMatchObject({ outcome: 'canceled' });
    expect(code).toBe(0);
    expect(bench.artifact('plan', 'plan')).toBeUndefined();
  });

  it('whose claim is void does nothing', async () => {
    const runner = bench.start('claim-unknown');
    expect(await runner.ended).toBe(0);
    expect(bench.plane.calls).toEqual(['POST /runner/v1/claim']);
  });
});

describe('Terraform’s environment', () => {
  it('contains its own variables, and neither the runner’s secrets nor its token', async () => {
    const configuration = await archive({ 'main.tf': long(`env; exec sleep 600.${mark}`) });
    const { plane } = bench;
    const variables = [
      { key: 'MY_REGION', value: 'eu-central-1', category: 'env' as const },
      { key: 'TF_DATA_DIR', value: '/tmp/not-taken-over', category: 'env' as const },
      { key: 'TF_WORKSPACE', value: 'not-taken-over', category: 'env' as const },
      { key: 'STEPFORM_URL', value: 'http://not-taken-over', category: 'env' as const },
      { key: 'TFE_PARALLELISM', value: '3', category: 'env' as const },
      { key: 'secret', value: 'value-not-for-argv' },
    ];
    await bench.run(jobFor(plane, configuration, { variables }));
    const job = { ...bench.applyJob(configuration, { variables }), heartbeatSeconds: 0.2 };
    const { claim, record } = plane.offer(job);
    const runner = bench.start(claim, {
      AWS_SECRET_ACCESS_KEY: 'host-credential',
      HTTPS_PROXY: 'http://proxy.example',
      GOMEMLIMIT: '600MiB',
      // Variables that the owner of an agent's machine passes on.
      CLOUD_PROFILE: 'office',
      STEPFORM_PASS_ON: 'CLOUD_PROFILE,NOT_SET',
    });
    await until('the long command runs', () => running());

    const terraform = readdirSync('/proc').filter((pid) => {
      try {
        return (
          /^\d+$/.test(pid) &&
          readlinkSync(`/proc/${pid}/exe`).endsWith('/terraform') &&
          readFileSync(`/proc/${pid}/environ`, 'latin1').includes(bench.directory)
        );
      } catch {
        return false;
      }
    });
    expect(terraform).toHaveLength(1);
    const environment = readFileSync(`/proc/${terraform[0]}/environ`, 'latin1').split('\0').filter(Boolean);
    const commandLine = readFileSync(`/proc/${terraform[0]}/cmdline`, 'latin1');
    for (const secret of [
      job.token,
      claim,
      'host-credential',
      'not-for-terraform',
      'value-not-for-argv',
      'not-taken-over',
    ]) {
      expect(environment.join('\n')).not.toContain(secret);
      expect(processes().filter((line) => line.includes(secret))).toEqual([]);
      expect(textOf(record)).not.toContain(secret);
      expect(runner.said()).not.toContain(secret);
    }
    expect(commandLine).toContain('-parallelism=3');
    expect(environment).toEqual(
      expect.arrayContaining([
        'MY_REGION=eu-central-1',
        'TF_IN_AUTOMATION=1',
        'TF_INPUT=0',
        'CHECKPOINT_DISABLE=1',
        'GOMEMLIMIT=600MiB',
        'TFC_WORKSPACE_NAME=network',
        'TFE_RUN_ID=run-1234567890abcdef',
        'HTTPS_PROXY=http://proxy.example',
        'CLOUD_PROFILE=office',
      ]),
    );
    const home = environment.find((one) => one.startsWith('HOME='))?.slice(5) as string;
    expect(home.startsWith(bench.directory)).toBe(true);
    expect(existsSync(home)).toBe(true);
    plane.signal = 'kill';
    expect(await runner.ended).toBe(0);
  });
});
