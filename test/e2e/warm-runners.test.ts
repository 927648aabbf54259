import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import type { Task } from '#infra/local/aws/ecs/ecs-task.ts';
import { claimsIn } from './support/memory.ts';
import { PlatformProcess } from './support/platform.ts';
import { type Runner, runners, send } from './support/runners.ts';
import { slowState } from './support/slow-state.ts';
import { Client, isFinalRun, type Resource, until } from './support/waiting.ts';
import { newName, resources } from './support/world.ts';

/** A separate platform with one warm runner. */
describe('with one warm runner', () => {
  let platform: PlatformProcess;
  let client: Client;
  beforeAll(async () => {
    platform = await PlatformProcess.start({ STEPFORM_WARM_RUNNERS: '1' });
    client = new Client(platform.local.url, platform.local.token);
  });
  afterAll(() => platform.remove());

  const create = async (
    attributes: Record<string, unknown> = { 'auto-apply': true },
    main = resources(['a']),
  ): Promise<Resource> => {
    const workspace = await client.createWorkspace(platform.local.organization, newName());
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': main }));
    return client.createRun(workspace.id, attributes, version.id);
  };
  const ended = (run: Resource) => client.waitForRun(run.id, isFinalRun);
  const tasks = (): Task[] => {
    const folder = join(platform.dataDir, 'tasks');
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
    return files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Task);
  };
  const startedFor = (run: Resource) => tasks().filter(({ startedBy }) => startedBy === run.id);
  const secretOf = ({ process: { pid } }: Runner): string =>
    claimsIn(pid).find((claim) => claim.startsWith('warm-')) ?? '';
  const ask = async (claim: string) => {
    const body = JSON.stringify({ claim, key: 'k'.repeat(43) });
    const answer = await fetch(`${platform.local.url}/runner/v1/ready`, { method: 'POST', body });
    return { status: answer.status, text: await answer.text() };
  };
  /** The runner that has registered: later registrations with its secret are rejected. */
  const idle = async (): Promise<Runner> => {
    const isIdle = (runner: Runner) => /ready for a run\n$/.test(logOf(runner));
    const warm = async () =>
      runners(platform.dataDir).find((runner) => runner.startedBy?.startsWith('warm-') && isIdle(runner));
    return (await until(warm, Boolean)) as Runner;
  };
  const logOf = ({ arn }: Runner): string =>
    readFileSync(join(platform.dataDir, 'logs', `runner-${arn.split('/').at(-1)}.log`), 'utf8');
  const isGone = (runner: Runner) =>
    until(
      async () => tasks().find(({ arn }) => arn === runner.arn)?.lastStatus,
      (status) => status === 'STOPPED',
      60_000,
    );

  it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
    'a run plans and applies in it, without another container; a stolen secret is rejected before and after; a successor is started',
    async () => {
      const runner = await idle();
      const secret = secretOf(runner);
      expect(secret).toMatch(/^warm-/);
      expect((await ask(secret)).status).toBe(410);
      const run = await create();
      expect((await ended(run)).attributes.status).toBe('applied');
      expect((await ask(secret)).status).toBe(410);
      for (const claim of [`${run.id}.plan.${secret.split('.')[1]}`, secret]) {
        const body = JSON.stringify({ claim, nonce: 'n' });
        expect((await fetch(`${platform.local.url}/runner/v1/claim`, { method: 'POST', body })).status).toBe(410);
      }
      expect(startedFor(run)).toEqual([]);
      await isGone(runner);
      expect((await idle()).arn).not.toBe(runner.arn);
    },
  );

  it('the second of two concurrent runs gets a container', async () => {
    await idle();
    const runs = await Promise.all([create(), create()]);
    for (const run of runs) expect((await ended(run)).attributes.status).toBe('applied');
    // The runner's successor may have been ready for the second run.
    expect(runs.flatMap(startedFor).length).toBeLessThanOrEqual(1);
    expect(runs.filter((run) => startedFor(run).length === 0).length).toBeGreaterThanOrEqual(1);
  });

  it('malformed requests get a 4xx that names the field', async () => {
    expect(await ask('warm-1.short')).toMatchObject({ status: 422, text: expect.stringContaining('claim:') });
  });

  it('a run ends as errored when the runner is killed in its plan', async () => {
    const runner = await idle();
    const slow = await slowState();
    try {
      const run = await create({}, slow.configuration);
      await slow.asked;
      // The warm runner took the run, so no container was started.
      expect(startedFor(run)).toEqual([]);
      send(runner, 'SIGKILL');
      const { attributes } = await ended(run);
      expect(attributes.status).toBe('errored');
      expect(attributes['end-reason']).toMatch(/^The runner stopped during the plan/);
    } finally {
      await slow.close();
    }
  });

  it('the runner survives a restart of the platform', async () => {
    const runner = await idle();
    await platform.stop('SIGKILL');
    await platform.start();
    expect((await idle()).arn).toBe(runner.arn);
    const run = await create();
    expect((await ended(run)).attributes.status).toBe('applied');
    await isGone(runner);
  });

  it('a run gets a container when the runner is frozen, or was killed while ready', async () => {
    const frozen = await idle();
    send(frozen, 'SIGSTOP');
    const first = await create();
    expect((await ended(first)).attributes.status).toBe('applied');
    expect(startedFor(first)).toHaveLength(1);
    // After it is resumed, it finds no task.
    send(frozen, 'SIGCONT');
    await isGone(frozen);
    const killed = await idle();
    send(killed, 'SIGKILL');
    await isGone(killed);
    const second = await create();
    expect((await ended(second)).attributes.status).toBe('applied');
  });
});
