import type { Context } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { startEnvironments } from './support.ts';

/** Followers of logs: new lines are pushed to them, in order, by functions that do not wait for lines. */

let world: Awaited<ReturnType<typeof startEnvironments>>;
let handler: typeof import('#environments/logs/handler.ts').handler;
let modules: Awaited<ReturnType<typeof load>>;
const load = async () => ({
  ...(await import('#environments/logs/followers.ts')),
  ...(await import('#environments/logs/tickets.ts')),
  ...(await import('#resources/runs/log-followers.ts')),
  ...(await import('#resources/runs/logs.ts')),
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#lifecycle/repair/due-items.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/table.ts')),
});
beforeAll(async () => {
  world = await startEnvironments();
  ({ handler } = await import('#environments/logs/handler.ts'));
  modules = await load();
});
afterEach(() => vi.useRealTimers());
afterAll(() => world.api.close());

const remainingMs = 60_000;
const context = {
  functionName: 'EnvironmentLogsFunction',
  getRemainingTimeInMillis: () => remainingMs,
} as unknown as Context;

let count = 0;
/** A build in progress with a connection that follows its log. */
const follow = async ({ opens = true } = {}) => {
  const { aws } = world.api;
  const { id } = (await world.create(await world.addTemplate())).body;
  const build = await world.latest(id);
  const run = await world.runOf(build);
  const running = { status: 'running', statusTimestamps: { 'started-at': build.createdAt } };
  await modules.updateRun(run.id, { set: { plan: running } });
  const job = run.environment ?? '';
  const connectionId = `connection-${++count}=`;
  const connect = async (after = -1) => {
    const ticket = await modules.issueTicket({ kind: 'build', jobId: build.id, after });
    aws.invoked.length = 0;
    const requestContext = { routeKey: '$connect', connectionId };
    return handler({ requestContext, queryStringParameters: { ticket } }, context);
  };
  let length = 0;
  const write = async (text: string) => {
    const bytes = Buffer.from(length === 0 ? `\x02${text}` : text);
    await modules.appendLog(run.id, 'plan', length, bytes);
    length += bytes.length;
  };
  const messages = aws.connections;
  if (opens) messages.set(connectionId, []);
  const lines = () => (messages.get(connectionId) ?? []).map((text) => JSON.parse(text).output).filter(Boolean);
  return { aws, id, run, job, connectionId, connect, write, lines, push: () => handler({ job }, context) };
};

it('a connection gets the log so far, then each new line when it arrives, and ends with the job', async () => {
  const { aws, id, run, job, connectionId, connect, write, lines, push } = await follow();
  await write('one\n');
  expect(await connect()).toEqual({ statusCode: 200 });
  const requestContext = { routeKey: '$connect', connectionId };
  expect(await handler({ requestContext }, context), 'without a ticket').toEqual({ statusCode: 401 });
  expect(aws.invoked).toEqual([{ name: 'EnvironmentLogsFunction', event: { job } }]);
  await push();
  expect(lines()).toEqual(['one']);
  await push();
  await write('two\nhalf');
  await push();
  await write(' of three\n');
  await push();
  expect(lines()).toEqual(['one', 'two', 'half of three']);
  expect(aws.invoked, 'no invocation continues').toHaveLength(1);
  const ended = { status: 'finished', statusTimestamps: {} };
  await write('\x03');
  await modules.updateRun(run.id, { set: { plan: ended, apply: { status: 'unreachable', statusTimestamps: {} } } });
  await world.end(id, 'errored');
  aws.invoked.length = 0;
  await push();
  expect([aws.connections.has(connectionId), aws.invoked]).toEqual([false, []]);
  expect(await modules.followersOf(job)).toEqual([]);
});

it('a line that arrives while another invocation ends is sent by that one', async () => {
  const { aws, connect, write, lines, push } = await follow();
  await connect();
  await push();
  const calls = aws.calls;
  await push();
  // The last call ends the lease.
  let left = aws.calls - calls;
  aws.gate = async () => {
    if (--left > 0) return;
    aws.gate = undefined;
    await write('one\n');
    await push();
  };
  await push();
  expect(lines()).toEqual(['one']);
});

it('a connection that opens late gets its first line; one that never opens is forgotten', async () => {
  const late = await follow({ opens: false });
  await late.connect();
  setTimeout(() => late.aws.connections.set(late.connectionId, []), 100);
  await late.write('one\n');
  await late.push();
  expect(late.lines()).toEqual(['one']);
  const never = await follow({ opens: false });
  await never.connect();
  let time = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => {
    time += 1000;
    return time;
  });
  await never.push();
  vi.restoreAllMocks();
  expect(await modules.followersOf(never.job)).toEqual([]);
});

it('a client that disconnected is forgotten with the next line', async () => {
  const { aws, connect, connectionId, write, push, job } = await follow();
  await connect();
  await push();
  aws.connections.delete(connectionId);
  await write('one\n');
  const sends = vi.spyOn(aws.connections, 'get');
  await push();
  expect(sends).toHaveBeenCalledTimes(1);
  expect(await modules.followersOf(job)).toEqual([]);
});

it('an invocation that runs out of time lets another continue where it ended', async () => {
  const { aws, connect, write, lines, push, job } = await follow();
  await write('one\ntwo\nthree\n');
  await connect();
  aws.invoked.length = 0;
  let left = 3;
  vi.spyOn(context, 'getRemainingTimeInMillis').mockImplementation(() => (left-- > 0 ? 60_000 : 1000));
  // Before the lease ends, another invocation asks for new lines.
  aws.gate = async () => {
    if (left >= 0) return;
    aws.gate = undefined;
    await push();
  };
  await push();
  vi.restoreAllMocks();
  const early = lines();
  expect(early.length).toBeLessThan(3);
  expect(aws.invoked).toEqual([{ name: 'EnvironmentLogsFunction', event: { job } }]);
  await push();
  expect(lines()).toEqual(['one', 'two', 'three']);
});

it('lines that were not pushed are sent by the sweep, which also keeps a quiet connection alive', async () => {
  const { aws, connect, connectionId, write, lines, push, job } = await follow();
  await connect();
  const [connected] = await modules.followersOf(job);
  await push();
  await write('lost\n');
  const [follower] = await modules.followersOf(job);
  expect(follower?.dueAt, 'not moved by each push').toBe(connected?.dueAt);
  expect(Date.parse(follower?.dueAt ?? '') - Date.now()).toBeLessThan(61_000);
  aws.invoked.length = 0;
  await modules.handleDue(modules.keys.logFollower(job, connectionId));
  expect(aws.invoked).toEqual([{ name: 'EnvironmentLogsFunction', event: { job } }]);
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(Date.now() + 70_000);
  await push();
  expect(lines()).toEqual(['lost']);
  expect((await modules.followersOf(job))[0]?.dueAt ?? '').toMatch(
    new Date(Date.now() + 60_000).toISOString().slice(0, 16),
  );
  const messages = () => aws.connections.get(connectionId);
  expect(messages(), 'two markers and the line').toHaveLength(3);
  vi.setSystemTime(Date.now() + 5 * 60_000);
  await push();
  expect([messages()?.length, (await modules.followersOf(job)).length]).toEqual([4, 1]);
  aws.connections.delete(connectionId);
  vi.setSystemTime(Date.now() + 5 * 60_000);
  await push();
  expect(await modules.followersOf(job)).toEqual([]);
  const idle = await follow();
  await idle.connect(1e12);
  await idle.push();
  expect(idle.aws.connections.get(idle.connectionId), 'of a client who has all entries').toHaveLength(1);
});

it('new output of a run is pushed only if its job has followers, at the price of one read', async () => {
  const { aws, run, connect } = await follow();
  aws.invoked.length = 0;
  await modules.pushIfFollowed(run);
  expect(aws.invoked).toEqual([]);
  await connect();
  aws.invoked.length = 0;
  const calls = aws.calls;
  await modules.pushIfFollowed(run);
  expect(aws.invoked).toEqual([{ name: 'EnvironmentLogsFunction', event: { job: run.environment } }]);
  await modules.pushIfFollowed({ id: run.id });
  // A read and the invocation; nothing for a run without an environment.
  expect(aws.calls - calls).toBe(2);
});

it('a log that cannot be read ends the connection', async () => {
  const { aws, connect, connectionId, push, job } = await follow();
  await connect();
  const error = vi.spyOn(console, 'error').mockImplementation(() => {});
  // The list of followers and the claim come first.
  aws.failCall(4, 'before');
  await push();
  expect(error).toHaveBeenCalledTimes(1);
  error.mockRestore();
  expect(aws.connections.has(connectionId)).toBe(false);
  expect(await modules.followersOf(job)).toEqual([]);
});

it('a connection to the log of a job that has ended, or no longer exists, ends', async () => {
  const { createDryRun } = await import('#environments/templates/dry-runs.ts');
  const { aws, userId: initiatorId } = world.api;
  const { activeVersionId: versionId, organization, createdAt } = await world.addTemplate();
  const job = { organization, createdAt, completedAt: createdAt, fileId: '', initiatorId, runIds: [] };
  await createDryRun({ ...job, jobId: 'ended', versionId, error: 'no disk' });
  const error = vi.spyOn(console, 'error');
  for (const [kind, jobId] of [
    ['build', 'x'],
    ['version', 'x'],
    ['version', versionId],
    ['dry-run', 'x y'],
    ['dry-run', `${versionId} ended`],
  ] as const) {
    const ticket = await modules.issueTicket({ kind, jobId, after: -1 });
    const messages: string[] = [];
    aws.connections.set(kind, messages);
    const requestContext = { routeKey: '$connect', connectionId: kind };
    await handler({ requestContext, queryStringParameters: { ticket } }, context);
    await handler({ job: `${kind} ${jobId}` }, context);
    expect([kind, jobId, aws.connections.has(kind), error.mock.calls]).toEqual([kind, jobId, false, []]);
    if (kind === 'dry-run') expect(messages.join('').includes('no disk')).toBe(jobId !== 'x y');
  }
});
