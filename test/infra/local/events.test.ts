import { afterEach, describe, expect, it, vi } from 'vitest';
import { Events } from '#infra/local/aws/events/events.ts';
import { Faults } from '#infra/local/host/faults.ts';
import { Stack } from '#infra/local/host/template.ts';
import { until } from './support/until.ts';

const home = { accountId: '000000000000', region: 'us-east-1', apiUrl: '' };
const rule = (properties: object, target = 'Listener') => ({
  Type: 'AWS::Events::Rule',
  Properties: { State: 'ENABLED', Targets: [{ Id: 'T', Arn: { 'Fn::GetAtt': [target, 'Arn'] } }], ...properties },
});
const listener = { Type: 'AWS::Lambda::Function', Properties: {} };

const open: Events[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const events of open.splice(0)) events.close();
});

const start = (
  rules: Record<string, object>,
  fail: (attempt: number) => boolean = () => false,
  faults = new Faults(),
  isStarted = true,
) => {
  const received: Record<string, unknown>[] = [];
  const lines: string[] = [];
  let attempts = 0;
  const events = new Events({
    stack: new Stack({ Resources: { Listener: listener, ...rules } as never }, home),
    home,
    faults,
    log: (line) => lines.push(line),
    invoke: async (arn, event) => {
      if (fail(++attempts)) throw new Error('not now');
      received.push({ arn, ...(event as object) });
    },
  });
  open.push(events);
  if (isStarted) events.start(false);
  return { events, received, lines, attempts: () => attempts };
};

const stopped = {
  source: 'aws.ecs',
  'detail-type': 'ECS Task State Change',
  resources: ['arn:t'],
  detail: { lastStatus: 'STOPPED' },
};

describe('rules', () => {
  it("deliver matching events in AWS's envelope", async () => {
    const { events, received } = start({
      Stopped: rule({ EventPattern: { source: ['aws.ecs'], detail: { lastStatus: ['STOPPED'] } } }),
      Running: rule({ EventPattern: { source: ['aws.ecs'], detail: { lastStatus: ['RUNNING'] } } }),
      Off: rule({ EventPattern: { source: ['aws.ecs'] }, State: 'DISABLED' }),
    });
    events.publish(stopped);
    await until('it is received', () => received.length);
    expect(received).toEqual([
      {
        ...stopped,
        arn: 'arn:aws:lambda:us-east-1:000000000000:function:Listener',
        version: '0',
        id: expect.any(String),
        account: '000000000000',
        region: 'us-east-1',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    ]);
  });

  it('deliver what was published before the start when they start', async () => {
    const { events, received } = start(
      { Stopped: rule({ EventPattern: { source: ['aws.ecs'] } }) },
      () => false,
      new Faults(),
      false,
    );
    events.publish(stopped);
    await new Promise((resolve) => setImmediate(resolve));
    expect(received).toEqual([]);
    events.start(false);
    await until('it is received', () => received.length);
  });

  it('retry failed deliveries', async () => {
    vi.useFakeTimers();
    const { attempts, events, lines, received } = start(
      { Stopped: rule({ EventPattern: { source: ['aws.ecs'] } }) },
      (n) => n < 3,
    );
    events.publish(stopped);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([attempts(), received.length, lines.length]).toEqual([3, 1, 2]);
    expect(lines[0]).toMatch(/rule Stopped: .*Listener failed \(Error: not now\); again in 1000 ms/);
  });

  it('give up after the last retry', async () => {
    vi.useFakeTimers();
    const { attempts, events, lines } = start({ Stopped: rule({ EventPattern: { source: ['aws.ecs'] } }) }, () => true);
    events.publish(stopped);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([attempts(), lines.at(-1)]).toEqual([3, expect.stringContaining('given up')]);
  });

  it('are delayed, repeated or lost by fault rules', async () => {
    vi.useFakeTimers();
    const action = 'ECS Task State Change';
    const faults = new Faults([
      { kind: 'lose', action, nth: 2 },
      { kind: 'duplicate', action, nth: 3 },
      { kind: 'late', action, nth: 4, ms: 5000 },
    ]);
    const { events, received } = start({ Stopped: rule({ EventPattern: { source: ['aws.ecs'] } }) }, undefined, faults);
    const count = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      return received.splice(0).length;
    };
    const counts: number[] = [];
    for (let n = 0; n < 4; n++) {
      events.publish(stopped);
      counts.push(await count(0));
    }
    expect([...counts, await count(4999), await count(1)]).toEqual([1, 0, 2, 0, 0, 1]);
  });

  it('fire at their rate, and at once after a restart', async () => {
    vi.useFakeTimers();
    const { events, received } = start({ Minute: rule({ ScheduleExpression: 'rate(1 minute)' }) });
    await vi.advanceTimersByTimeAsync(59_000);
    expect(received).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(61_000);
    expect(received).toHaveLength(2);
    events.start(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(received).toHaveLength(3);
    expect(received[0]).toMatchObject({ source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} });
  });

  it.each([
    [{ ScheduleExpression: 'cron(0 12 * * ? *)' }, 'cron(0 12 * * ? *)'],
    [
      { EventPattern: {}, Targets: [{ Id: 'T', Arn: 'arn:aws:sqs:us-east-1:000000000000:Queue' }] },
      'whole events or fixed inputs',
    ],
  ])('that are unsupported fail the start: %o', (properties, message) => {
    expect(() => start({ Odd: rule(properties) })).toThrow(message);
  });
});
