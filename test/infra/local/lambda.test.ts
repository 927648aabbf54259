import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { arnOf, hostFunctions } from './support/functions.ts';

describe('a hosted function', () => {
  it('has only its own environment', async () => {
    process.env.SECRET_OF_THE_PLATFORM = 'x';
    const source = 'async () => ({...process.env, own: require("node:process").env.AWS_ACCESS_KEY_ID})';
    const { call } = hostFunctions({
      One: { handler: source, environment: { TABLE_NAME: 'one' } },
      Two: { handler: source, before: 'process.env.ADDED = "by two"' },
    });
    const [one, two] = (await Promise.all([call('One'), call('Two')])) as Record<string, string>[];
    expect(one).toMatchObject({
      TABLE_NAME: 'one',
      AWS_REGION: 'us-east-1',
      AWS_LAMBDA_FUNCTION_NAME: 'One',
      own: 'KEYOne',
    });
    expect(two).toMatchObject({ ADDED: 'by two', AWS_ACCESS_KEY_ID: 'KEYTwo' });
    for (const environment of [one, two]) expect(environment).not.toHaveProperty('SECRET_OF_THE_PLATFORM');
    expect(two).not.toHaveProperty('TABLE_NAME');
    expect(one).not.toHaveProperty('ADDED');
  });

  it('receives JSON and a context and returns JSON', async () => {
    const { call, lambda } = hostFunctions({
      Echo: {
        handler:
          'async (event, context) => ({event, name: context.functionName, arn: context.invokedFunctionArn, left: context.getRemainingTimeInMillis(), gone: undefined})',
      },
      Void: { handler: 'async () => {}' },
    });
    const event = { at: new Date(0), none: undefined, deep: [1, { a: null }] };
    const answer = (await call(arnOf('Echo'), event)) as Record<string, unknown>;
    expect(answer).toMatchObject({
      event: { at: '1970-01-01T00:00:00.000Z', deep: [1, { a: null }] },
      name: 'Echo',
      arn: arnOf('Echo'),
    });
    expect(answer.left).toBeGreaterThan(5_000);
    expect((await lambda.invoke('Void', '{}')).payload).toBe('null');
  });

  it('can import Node modules at runtime', async () => {
    const { call } = hostFunctions({
      Imports: { handler: 'async () => (await import("node:path")).join("a", "b")' },
    });
    expect(await call('Imports')).toBe('a/b');
  });

  it('reports errors by name', async () => {
    const { lambda } = hostFunctions({
      Fails: {
        handler:
          'async () => { class NotYetError extends Error { name = "NotYetError" } throw new NotYetError("wait") }',
      },
      Broken: { handler: 'async () => 1', before: 'throw new TypeError("at load")' },
      Exits: { handler: 'async () => process.exit(3)' },
    });
    expect((await lambda.invoke('Fails', '{}')).failure).toMatchObject({
      errorType: 'NotYetError',
      errorMessage: 'wait',
      trace: expect.arrayContaining([expect.stringContaining('index.js')]),
    });
    expect((await lambda.invoke('Broken', '{}')).failure).toMatchObject({
      errorType: 'TypeError',
      errorMessage: 'at load',
    });
    expect((await lambda.invoke('Exits', '{}')).failure).toMatchObject({ errorType: 'Runtime.ExitError' });
    await expect(lambda.invoke('Missing', '{}')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });

  it('is stopped at its timeout', async () => {
    const { lambda } = hostFunctions({ Slow: { handler: '() => new Promise(() => {})', timeout: 0.05 } });
    expect((await lambda.invoke('Slow', '{}')).failure).toMatchObject({
      errorType: 'Sandbox.Timedout',
      errorMessage: expect.stringContaining('Task timed out after 0.05 seconds'),
    });
    expect(lambda.active).toBe(0);
  });

  it('limits payloads to 6 MB', async () => {
    const { lambda } = hostFunctions({ Size: { handler: 'async ({n}) => "x".repeat(n)' } });
    const limit = 6 * 1024 * 1024;
    expect((await lambda.invoke('Size', JSON.stringify({ n: limit - 2 }))).failure).toBeUndefined();
    expect((await lambda.invoke('Size', JSON.stringify({ n: limit }))).failure).toMatchObject({
      errorType: 'Function.ResponseSizeTooLarge',
    });
    await expect(lambda.invoke('Size', JSON.stringify('x'.repeat(limit)))).rejects.toMatchObject({
      name: 'RequestTooLargeException',
    });
  });

  it('counts the escapes of an HTTP answer toward its 6 MB', async () => {
    const { lambda } = hostFunctions({
      Http: {
        handler:
          'async ({n, text}) => ({ statusCode: 200, headers: { a: "b", none: undefined }, body: text.repeat(n) })',
      },
    });
    const invoke = async (n: number, text: string) => lambda.invoke('Http', JSON.stringify({ n, text }));
    const limit = 6 * 1024 * 1024;
    expect((await invoke(limit / 2, 'x')).failure).toBeUndefined();
    for (const [text, escaped] of [
      ['x', 1],
      ['"', 2],
      ['\u0001', 6],
    ] as const)
      expect((await invoke(limit / escaped, text)).failure).toMatchObject({
        errorType: 'Function.ResponseSizeTooLarge',
      });
    expect(JSON.parse((await invoke(1, 'x')).payload)).toEqual({ statusCode: 200, headers: { a: 'b' }, body: 'x' });
  });

  it('keeps its trace id under concurrency', async () => {
    const { lambda } = hostFunctions({
      Traced: { handler: 'async () => { await new Promise(setImmediate); return process.env._X_AMZN_TRACE_ID }' },
    });
    const traces = ['Root=1-aaaaaaaa-000000000000000000000001', 'Root=1-aaaaaaaa-000000000000000000000002'];
    const seen = await Promise.all(
      traces.map(async (trace) => (await lambda.invoke('Traced', '{}', { trace })).payload),
    );
    expect(seen).toEqual(traces.map((trace) => expect.stringContaining(`${trace};Parent=`)));
  });

  it('logs to its own file', async () => {
    const { call, folder, logs } = hostFunctions({
      TalksFunction: {
        handler:
          'async () => { console.log("hello", {a: 1}); console.error("oh"); process.stdout.write("raw\\n"); new (require("node:console").Console)(process.stderr).warn("powertools") }',
      },
    });
    await call('TalksFunction');
    await logs.close();
    expect(await readFile(join(folder, 'logs', 'Talks.log'), 'utf8')).toBe('hello { a: 1 }\noh\nraw\npowertools\n');
  });
});
