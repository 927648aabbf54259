import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Ecs } from '#infra/local/aws/ecs/ecs.ts';
import { newFolder } from '#infra/local/aws/ecs/ecs-task.ts';
import { runnersOf } from '#infra/local/aws/ecs/orphaned-runners.ts';
import { startOf } from '#infra/local/host/processes.ts';
import { temporaryFolder } from './support/functions.ts';
import { until } from './support/until.ts';

const clusterArn = 'arn:aws:ecs:us-east-1:000000000000:cluster/Runners';
const definitionArn = 'arn:aws:ecs:us-east-1:000000000000:task-definition/stepform-runner:1';

interface Detail {
  taskArn: string;
  lastStatus: string;
  stoppedReason?: string;
  stopCode?: string;
  startedBy?: string;
  containers: { exitCode?: number }[];
}

/** Test double of the runner: behaves as MODE says, after starting a child process unless the test needs none. */
const program = `
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
export const runTask = async () => {
  const { MODE, OUT } = process.env;
  const asked = new Promise((resolve) => MODE === 'polite' && process.once('SIGTERM', () => resolve(0)));
  if (MODE === 'stubborn') process.on('SIGTERM', () => {});
  const child = MODE === 'clean' || MODE === 'timer' ? undefined : spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  if (MODE === 'timer') setInterval(() => {}, 1000);
  const facts = { env: process.env, pid: process.pid, child: child?.pid, cwd: process.cwd() };
  writeFileSync(OUT, JSON.stringify(facts));
  console.log('started');
  if (MODE === 'exit') return 7;
  if (MODE === 'clean' || MODE === 'timer') return 0;
  return asked;
};
`;

const open: Ecs[] = [];
afterEach(() => {
  for (const ecs of open.splice(0)) {
    ecs.killAll();
    ecs.close();
  }
});

const start = (folder: string, slots?: number) => {
  const events: Detail[] = [];
  const used: [string, number][] = [];
  const main = join(folder, 'main.mjs');
  writeFileSync(main, program);
  const ecs = new Ecs({
    folder: join(folder, 'tasks'),
    logs: join(folder, 'logs'),
    clusterArn,
    definition: {
      id: 'TaskDefinition',
      type: 'AWS::ECS::TaskDefinition',
      ref: definitionArn,
      arn: definitionArn,
      properties: {
        Cpu: '1024',
        Memory: '2048',
        ContainerDefinitions: [
          { Name: 'runner', Environment: [{ Name: 'FROM', Value: 'definition' }], StopTimeout: 0.3 },
        ],
      },
    },
    program: main,
    ports: join(folder, 'ports.json'),
    environment: { PATH: process.env.PATH ?? '' },
    admission: slots ? { slots, idle: () => 0, maxPauseMs: 60_000 } : {},
    onEvent: (detail) => events.push(detail as unknown as Detail),
    onUsage: (run, seconds) => used.push([run, seconds]),
  });
  open.push(ecs);
  const out = join(folder, 'out.json');
  const run = (mode: string, more: object = {}) =>
    ecs.handle('RunTask', {
      cluster: clusterArn,
      taskDefinition: definitionArn,
      startedBy: 'run-aaaaaaaaaaaaaaaa',
      overrides: {
        containerOverrides: [
          {
            name: 'runner',
            environment: [
              { name: 'MODE', value: mode },
              { name: 'OUT', value: out },
            ],
          },
        ],
      },
      ...more,
    }) as Promise<{ tasks: { taskArn: string }[] }>;
  const said = () =>
    until(
      'the program says what it sees',
      () =>
        existsSync(out) &&
        readFileSync(out, 'utf8').endsWith('}') &&
        (JSON.parse(readFileSync(out, 'utf8')) as {
          env: Record<string, string>;
          pid: number;
          child: number;
          cwd: string;
        }),
    );
  const stopped = (taskArn: string) =>
    until('the task stops', () => events.find((event) => event.taskArn === taskArn && event.lastStatus === 'STOPPED'));
  return { ecs, events, used, run, said, stopped };
};

const gone = (pid: number) => until(`process ${pid} is gone`, () => startOf(pid) === undefined);

describe('a task', () => {
  it("runs the program with the container's environment and reports its exit", async () => {
    process.env.SECRET_OF_THE_PLATFORM = 'x';
    const folder = temporaryFolder();
    const { events, run, said, stopped, used } = start(folder);
    const taskArn = (await run('exit')).tasks[0]!.taskArn;
    expect(taskArn).toMatch(/^arn:aws:ecs:us-east-1:000000000000:task\/Runners\/[0-9a-f]{32}$/);
    const { child, cwd, env } = await said();
    expect(env).toMatchObject({ FROM: 'definition', MODE: 'exit', TMPDIR: cwd });
    expect(env).not.toHaveProperty('SECRET_OF_THE_PLATFORM');
    expect(await stopped(taskArn)).toMatchObject({
      startedBy: 'run-aaaaaaaaaaaaaaaa',
      stopCode: 'EssentialContainerExited',
      stoppedReason: 'Essential container in task exited',
      containers: [{ exitCode: 7 }],
    });
    expect(events.map((event) => event.lastStatus)).toEqual(['RUNNING', 'STOPPED']);
    expect(used).toEqual([['run-aaaaaaaaaaaaaaaa', expect.any(Number)]]);
    // As with a container, its descendants end with it, and its disk is deleted.
    await gone(child);
    await until('its disk is gone', () => !existsSync(cwd));
    const log = `runner-${taskArn.split('/').at(-1)}.log`;
    expect(readFileSync(join(folder, 'logs', log), 'utf8')).toBe('started\n');
  });

  it('is refused while it cannot be recorded, and leaves no trace', async () => {
    const folder = temporaryFolder();
    const { ecs, run, stopped } = start(folder);
    renameSync(join(folder, 'tasks'), join(folder, 'away'));
    writeFileSync(join(folder, 'tasks'), '');
    await expect(run('exit', { clientToken: 'a' })).rejects.toThrow('ENOTDIR');
    expect(await ecs.handle('ListTasks', { cluster: clusterArn })).toEqual({ taskArns: [] });
    renameSync(join(folder, 'tasks'), join(folder, 'file'));
    renameSync(join(folder, 'away'), join(folder, 'tasks'));
    await stopped((await run('exit', { clientToken: 'a' })).tasks[0]!.taskArn);
  });

  it('gets SIGTERM, then SIGKILL for its whole process tree', async () => {
    const folder = temporaryFolder();
    const { ecs, run, said, stopped } = start(folder);
    const taskArn = (await run('stubborn')).tasks[0]!.taskArn;
    const { child, pid } = await said();
    await ecs.handle('StopTask', { cluster: clusterArn, task: taskArn, reason: 'canceled' });
    expect(await stopped(taskArn)).toMatchObject({
      stopCode: 'UserInitiated',
      stoppedReason: 'canceled',
      containers: [{ exitCode: 137 }],
    });
    await Promise.all([gone(pid), gone(child)]);
  });

  it('may exit by itself after SIGTERM', async () => {
    const { ecs, run, said, stopped } = start(temporaryFolder());
    const taskArn = (await run('polite')).tasks[0]!.taskArn;
    await said();
    await ecs.handle('StopTask', { cluster: clusterArn, task: taskArn });
    expect(await stopped(taskArn)).toMatchObject({ containers: [{ exitCode: 0 }] });
  });

  it('is started once per client token', async () => {
    const { ecs, run } = start(temporaryFolder());
    const [one, two, three] = [
      await run('stay', { clientToken: 'a' }),
      await run('stay', { clientToken: 'a' }),
      await run('stay', { clientToken: 'b' }),
    ];
    expect(two).toEqual(one);
    expect(three.tasks[0]!.taskArn).not.toBe(one.tasks[0]!.taskArn);
    expect(ecs.running).toBe(2);
    expect(await ecs.handle('ListTasks', { cluster: clusterArn })).toEqual({
      taskArns: [one, three].map(({ tasks }) => tasks[0]!.taskArn),
    });
  });

  it('is described by ARN and id while it runs and for a while after', async () => {
    const { ecs, run, stopped } = start(temporaryFolder());
    const taskArn = (await run('exit')).tasks[0]!.taskArn;
    await stopped(taskArn);
    const answer = await ecs.handle('DescribeTasks', {
      cluster: clusterArn,
      tasks: [taskArn.split('/').at(-1), 'unknown'],
    });
    expect(answer).toMatchObject({
      tasks: [{ taskArn, lastStatus: 'STOPPED' }],
      failures: [{ arn: 'unknown', reason: 'MISSING' }],
    });
  });

  it.each([
    [{ cluster: 'Other' }, 'ClusterNotFoundException'],
    [{ taskDefinition: 'other:1' }, 'ClientException'],
  ])('is rejected with %o', async (wrong, name) => {
    const { run } = start(temporaryFolder());
    await expect(run('exit', wrong)).rejects.toMatchObject({ name });
  });
});

describe('the process of a task', () => {
  const perform = async (
    part: ReturnType<typeof start>,
    mode: string,
    more: { name: string; value: string }[] = [],
  ) => {
    const out = join(temporaryFolder(), 'out.json');
    const environment = [{ name: 'MODE', value: mode }, { name: 'OUT', value: out }, ...more];
    const overrides = { containerOverrides: [{ name: 'runner', environment }] };
    const taskArn = (await part.run(mode, { overrides })).tasks[0]!.taskArn;
    const { containers } = await part.stopped(taskArn);
    const facts = JSON.parse(readFileSync(out, 'utf8')) as { env: Record<string, string>; pid: number; cwd: string };
    return { ...facts, taskArn, code: containers[0]?.exitCode };
  };

  it('runs the next one, with the environment, folder and log of that task alone', async () => {
    const folder = temporaryFolder();
    const part = start(folder);
    const first = await perform(part, 'clean', [{ name: 'SECRET', value: 'of the first' }]);
    const second = await perform(part, 'clean', [{ name: 'OTHER', value: 'of the second' }]);
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(second.pid).toBe(first.pid);
    expect(second.env).toMatchObject({ FROM: 'definition', OTHER: 'of the second', TMPDIR: second.cwd });
    expect(second.env).not.toHaveProperty('SECRET');
    expect(second.cwd).not.toBe(first.cwd);
    for (const { taskArn } of [first, second])
      expect(readFileSync(join(folder, 'logs', `runner-${taskArn.split('/').at(-1)}.log`), 'utf8')).toBe('started\n');
    // A backup and a restart ignore the process, because it no longer belongs to a task.
    expect(runnersOf(folder)).toEqual([]);
  });

  it.each([
    ['has failed', 'exit', 7],
    ['leaves something running', 'timer', 0],
  ])('ends with a task that %s', async (_, mode, code) => {
    const part = start(temporaryFolder());
    const first = await perform(part, mode);
    expect(first.code).toBe(code);
    await gone(first.pid);
    expect((await perform(part, 'clean')).pid).not.toBe(first.pid);
  });

  it('is replaced when it was killed while it waited', async () => {
    const part = start(temporaryFolder());
    const { pid } = await perform(part, 'clean');
    process.kill(pid, 'SIGKILL');
    await gone(pid);
    expect((await perform(part, 'clean')).code).toBe(0);
  });

  it('ends with the platform while it is idle, and with its task while it runs one', async () => {
    const part = start(temporaryFolder());
    const { pid } = await perform(part, 'clean');
    const { tasks } = await part.run('polite');
    const busy = await part.said();
    expect(busy.pid).toBe(pid);
    part.ecs.close();
    expect(startOf(pid)).toBeDefined();
    process.kill(pid, 'SIGTERM');
    await Promise.all([gone(pid), gone(busy.child)]);
    expect(
      part.events.filter(({ taskArn, lastStatus }) => taskArn === tasks[0]?.taskArn && lastStatus === 'STOPPED'),
    ).toEqual([]);
    const idle = start(temporaryFolder());
    const waiting = await perform(idle, 'clean');
    idle.ecs.close();
    await gone(waiting.pid);
  });

  it('gets no signal for a task that has already ended', async () => {
    const part = start(temporaryFolder());
    const first = await perform(part, 'clean');
    await part.run('polite');
    const { pid } = await part.said();
    expect(pid).toBe(first.pid);
    await part.ecs.handle('StopTask', { cluster: clusterArn, task: first.taskArn });
    await part.ecs.handle('StopTask', { cluster: clusterArn, task: first.taskArn });
    // Longer than a task has between SIGTERM and SIGKILL.
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(startOf(pid)).toBeDefined();
  });
});

describe('a task beyond the machine’s limit', () => {
  const statusOf = async (ecs: Ecs, task: string) =>
    ((await ecs.handle('DescribeTasks', { tasks: [task] })).tasks as { lastStatus: string }[])[0]?.lastStatus;

  /** Its record contains a task's claim only until the task starts or is stopped. */
  const journalOf = (folder: string, task: string): string =>
    readFileSync(join(folder, 'tasks', `${task.split('/').at(-1)}.json`), 'utf8');

  it('waits as PENDING and starts when one of them has stopped', async () => {
    const { ecs, events, run, stopped } = start(temporaryFolder(), 1);
    const first = (await run('polite')).tasks[0]!.taskArn;
    const second = (await run('exit')).tasks[0]!.taskArn;
    expect(await statusOf(ecs, second)).toBe('PENDING');
    await until('the first runs', () => events.find(({ taskArn }) => taskArn === first));
    expect(events.filter(({ taskArn }) => taskArn === second)).toEqual([]);
    await ecs.handle('StopTask', { cluster: clusterArn, task: first });
    expect(await stopped(second)).toMatchObject({ containers: [{ exitCode: 7 }] });
  });

  it('is stopped without ever having started', async () => {
    const folder = temporaryFolder();
    const { ecs, run, stopped, used } = start(folder, 1);
    await run('polite');
    const second = (await run('exit', { startedBy: 'run-bbbbbbbbbbbbbbbb' })).tasks[0]!.taskArn;
    expect(journalOf(folder, second)).toContain('waitsWith');
    await ecs.handle('StopTask', { cluster: clusterArn, task: second, reason: 'canceled' });
    expect(await stopped(second)).toMatchObject({ stopCode: 'UserInitiated', stoppedReason: 'canceled' });
    expect(journalOf(folder, second)).not.toContain('waitsWith');
    expect(used).toEqual([]);
    expect(existsSync(join(folder, 'logs', `runner-${second.split('/').at(-1)}.log`))).toBe(false);
  });

  it('starts after a restart of the platform, with its environment', async () => {
    const folder = temporaryFolder();
    const before = start(folder, 1);
    await before.run('polite');
    const second = (await before.run('exit', { startedBy: 'run-bbbbbbbbbbbbbbbb' })).tasks[0]!.taskArn;
    before.ecs.close();
    before.ecs.killAll();
    const after = start(folder, 1);
    after.ecs.resume();
    expect(await after.stopped(second)).toMatchObject({ containers: [{ exitCode: 7 }] });
    expect(journalOf(folder, second)).not.toContain('waitsWith');
  });
});

describe('after a restart of the platform', () => {
  it('adopts a running task, which can be stopped and reports its exit', async () => {
    const folder = temporaryFolder();
    const before = start(folder);
    const taskArn = (await before.run('polite')).tasks[0]!.taskArn;
    const { pid } = await before.said();
    before.ecs.close();

    const after = start(folder);
    after.ecs.resume();
    expect(await after.ecs.handle('DescribeTasks', { tasks: [taskArn] })).toMatchObject({
      tasks: [{ lastStatus: 'RUNNING' }],
    });
    expect(startOf(pid)).toBeDefined();
    await after.ecs.handle('StopTask', { task: taskArn, reason: 'later' });
    expect(await after.stopped(taskArn)).toMatchObject({ stoppedReason: 'later' });
    expect(before.events.filter((event) => event.lastStatus === 'STOPPED')).toEqual([]);
  });

  it('stops a task that died meanwhile and cleans up', async () => {
    const folder = temporaryFolder();
    const before = start(folder);
    const taskArn = (await before.run('stay')).tasks[0]!.taskArn;
    const { child, pid } = await before.said();
    before.ecs.close();
    process.kill(pid, 'SIGKILL');
    await gone(pid);

    const after = start(folder);
    after.ecs.resume();
    expect(await after.stopped(taskArn)).toMatchObject({
      stoppedReason: 'The task stopped while the platform was down',
    });
    await gone(child);
  });

  it.runIf(process.platform === 'linux')('finds a task without a recorded process by its folder', async () => {
    const folder = temporaryFolder();
    const before = start(folder);
    const taskArn = (await before.run('polite')).tasks[0]!.taskArn;
    const { pid } = await before.said();
    before.ecs.close();
    const journal = join(folder, 'tasks', `${taskArn.split('/').at(-1)}.json`);
    const { process: _, ...task } = JSON.parse(readFileSync(journal, 'utf8'));
    writeFileSync(journal, JSON.stringify({ ...task, lastStatus: 'PENDING', startedAt: undefined }));

    const after = start(folder);
    after.ecs.resume();
    await after.ecs.handle('StopTask', { task: taskArn, reason: 'found' });
    expect(await after.stopped(taskArn)).toMatchObject({ stoppedReason: 'found', stopCode: 'UserInitiated' });
    await gone(pid);
  });

  it('leaves a process alone that reuses the pid of a dead task', async () => {
    const folder = temporaryFolder();
    const before = start(folder);
    const taskArn = (await before.run('exit')).tasks[0]!.taskArn;
    await before.stopped(taskArn);
    const journal = join(folder, 'tasks', `${taskArn.split('/').at(-1)}.json`);
    const task = JSON.parse(readFileSync(journal, 'utf8')) as object;
    const other = start(temporaryFolder());
    await other.run('stay');
    const { pid } = await other.said();
    writeFileSync(
      journal,
      JSON.stringify({
        ...task,
        lastStatus: 'RUNNING',
        desiredStatus: 'RUNNING',
        process: { pid, startedAt: 'earlier' },
      }),
    );

    const after = start(folder);
    after.ecs.resume();
    await after.stopped(taskArn);
    expect(startOf(pid)).toBeDefined();
  });
});

it('a task in a long data folder has a folder that is short enough for the sockets of providers', () => {
  const id = '0123456789abcdef0123456789abcdef';
  const folder = newFolder(`/srv/${'a'.repeat(80)}/tasks`, id);
  expect(`${folder}/stepform-123456/tmp/plugin1234567890`.length).toBeLessThanOrEqual(107);
});
