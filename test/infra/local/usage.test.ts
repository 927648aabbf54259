import { describe, expect, it } from 'vitest';
import { newTraceId, runIn, Usage } from '#infra/local/aws/lambda/usage.ts';

const run = 'run-AAAAAAAAAAAAAAAA';

describe('usage', () => {
  it('finds the run id in every kind of call', () => {
    expect(runIn('{"pk":"RUN#run-AAAAAAAAAAAAAAAA"}')).toBe(run);
    expect(runIn('GET /api/v2/plans/plan-AAAAAAAAAAAAAAAA')).toBe(run);
    expect(runIn('run-AAAAAAAAAAAAAAAAtoolong')).toBeUndefined();
    expect(runIn('run-short')).toBeUndefined();
  });

  it('attributes all calls of a trace to its first run', () => {
    const usage = new Usage();
    const trace = newTraceId();
    usage.record(trace, 'dynamodb', 'GetItem', { readUnits: 1 });
    usage.see(trace, 'nothing');
    usage.see(trace, `x ${run} x`);
    usage.see(trace, 'run-BBBBBBBBBBBBBBBB');
    usage.record(trace, 'dynamodb', 'GetItem', { readUnits: 0.5 });
    usage.record(newTraceId(), 'dynamodb', 'GetItem', { readUnits: 100 });
    expect(usage.of(run, 0).calls).toEqual([
      { service: 'dynamodb', action: 'GetItem', count: 2, units: { readUnits: 1.5 } },
    ]);
    expect(usage.of('run-BBBBBBBBBBBBBBBB', 0).calls).toEqual([]);
  });

  it('attributes presigned URLs to their run', () => {
    const usage = new Usage();
    const trace = newTraceId();
    const signature = 'ab'.repeat(32);
    usage.assign(trace, run);
    usage.rememberUrls(trace, JSON.stringify({ url: `http://x/?X-Amz-Signature=${signature}` }));
    expect(usage.runOfUrl(signature)).toBe(run);
    expect(usage.runOfUrl('cd'.repeat(32))).toBeUndefined();
  });

  it('prices usage like AWS', () => {
    const usage = new Usage();
    const each: [string, string, Record<string, number>?][] = [
      ['dynamodb', 'PutItem', { writeUnits: 4 }],
      ['dynamodb', 'GetItem', { readUnits: 8 }],
      ['lambda', 'Api', { ms: 100, gbSeconds: 0.05 }],
      ['apigateway', 'ANY /', {}],
      ['s3', 'PutObject'],
      ['s3', 'GetObject'],
      ['s3', 'DeleteObject'],
      ['kms', 'Decrypt'],
      ['fargate', 'task', { vcpuHours: 1, gbHours: 2 }],
      ['states', 'SendTaskSuccess'],
    ];
    for (const [service, action, units] of each) usage.recordForRun(run, service, action, units);
    const { totals, price } = usage.of(run, 10);
    expect(totals).toEqual({
      transitions: 10,
      readUnits: 8,
      writeUnits: 4,
      lambdaRequests: 1,
      lambdaGbSeconds: 0.05,
      apiRequests: 1,
      s3Puts: 1,
      s3Gets: 1,
      kmsRequests: 1,
      fargateVcpuHours: 1,
      fargateGbHours: 2,
    });
    const withoutFargate =
      10 * 0.000025 + 8 * 1.25e-7 + 4 * 6.25e-7 + 2e-7 + 0.05 * 0.0000133334 + 1e-6 + 5e-6 + 4e-7 + 3e-6;
    expect(price.usdWithoutFargate).toBeCloseTo(withoutFargate, 12);
    expect(price.usd).toBeCloseTo(withoutFargate + 0.03238 + 2 * 0.00356, 12);
  });
});
