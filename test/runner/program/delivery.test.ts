import { describe, expect, it } from 'vitest';
import type { Fault } from './control-plane.ts';
import { archive, Bench, jobFor, textOf } from './support.ts';
import { until } from './until.ts';

const bench = Bench.use();

const chatty = `
resource "terraform_data" "a" {
  count = 5
  provisioner "local-exec" {
    command = "for i in 1 2 3 4 5 6; do echo line $i; sleep 0.05; done"
  }
}
`;

describe('a bad connection', () => {
  it('only delays a phase', async () => {
    const configuration = await archive({ 'main.tf': chatty });
    const faults = ['refuse', 'lose-answer', 'fail'] as const;
    let n = 0;
    const seen = new Map<string, number>();
    // Fails the first three attempts of every call, each in another way, and every third of all later attempts.
    bench.plane.fault = (path): Fault => {
      const attempt = seen.get(path) ?? 0;
      seen.set(path, attempt + 1);
      return faults[attempt] ?? (++n % 3 === 0 ? faults[(n / 3) % 3] : undefined);
    };
    await bench.run(jobFor(bench.plane, configuration));
    const applied = await bench.run(bench.applyJob(configuration));
    expect(applied.report).toMatchObject({
      outcome: 'finished',
      counts: { additions: 5 },
      artifacts: { log: expect.any(String) },
    });
    expect(applied.log.match(/line 6/g)).toHaveLength(5);
    expect(bench.artifact('apply', 'log')?.equals(applied.record.log)).toBe(true);
    expect(JSON.parse(bench.plane.current()?.content?.toString() ?? '').resources[0].instances).toHaveLength(5);
    expect(applied.code).toBe(0);
  });

  it('never blocks Terraform', async () => {
    const { plane } = bench;
    const configuration = await archive({ 'main.tf': chatty });
    let down = false;
    plane.fault = (path) => (down && !path.endsWith('/claim') ? 'fail' : undefined);
    const { claim } = plane.offer(jobFor(plane, configuration));
    const record = plane.reserve(jobFor(plane, configuration, { phase: 'apply' }));
    const runner = bench.start(claim);
    await until('the apply has begun', () => textOf(record).includes('Creating...'));
    down = true;
    const before = record.log.length;
    // Longer than the apply takes: about 0.3 s.
    const calls = plane.calls.length;
    await until('the runner keeps trying', () => plane.calls.length > calls + 8);
    expect(record.log.length).toBe(before);
    down = false;
    expect(await runner.ended).toBe(0);
    expect(record.report).toMatchObject({ outcome: 'finished', counts: { additions: 5 } });
    expect(textOf(record)).toContain('Apply complete!');
  });

  it('that interrupts a download restarts it', async () => {
    const { plane } = bench;
    const { randomBytes } = await import('node:crypto');
    const configuration = await archive({ 'main.tf': chatty, 'blob.bin': randomBytes(900_000).toString('hex') });
    plane.cutAfter = 300_000;
    const { report } = await bench.run(jobFor(plane, configuration));
    expect(report).toMatchObject({ outcome: 'finished', counts: { additions: 5 } });
    expect(plane.calls.filter((call) => call.endsWith('/objects/configuration'))).toHaveLength(2);
  });
});

describe('sensitive values', () => {
  it('of the workspace are masked in the log, even if the configuration does not mark them', async () => {
    const configuration = await archive({
      'main.tf': `
variable "password" {}
variable "accounts" { type = map(string) }
resource "terraform_data" "a" {
  input = [var.password, var.accounts]
  provisioner "local-exec" {
    command = "printf 'x%sy%s' '\${var.password}' \\"$TOKEN\\""
  }
}
output "p" { value = var.password }
`,
    });
    const variables = [
      { key: 'password', value: 'correct <horse> & "battery"', sensitive: true },
      { key: 'accounts', value: '{ root = "t0ps3cret" }', hcl: true, sensitive: true },
      { key: 'TOKEN', value: 'env-token-value', category: 'env' as const, sensitive: true },
    ];
    for (const structuredOutput of [false, true]) {
      const { plan, report, log: applied } = await bench.planAndApply(configuration, { variables, structuredOutput });
      const planned = textOf(plan);
      expect(report).toMatchObject({ outcome: 'finished' });
      // A plan's JSON lines contain no values.
      expect(planned.includes('(sensitive value)')).toBe(!structuredOutput);
      expect(applied).toContain('(sensitive value)');
      for (const log of [planned, applied]) {
        expect(log).not.toMatch(/horse|battery|t0ps3cret|env-token-value/);
      }
      bench.plane.states.length = 0;
    }
    // The plan itself is for users with permission to read the state.
    expect(bench.artifact('plan', 'plan-json')?.toString()).toContain('t0ps3cret');
  });
});

it('an apply’s output can be read while it runs', async () => {
  const configuration = await archive({
    'main.tf':
      'resource "terraform_data" "a" {\n  provisioner "local-exec" {\n    command = "date +%s%N; sleep 0.4; date +%s%N; sleep 0.4; date +%s%N"\n  }\n}',
  });
  const applied = await bench.planAndApply(configuration);
  const { log, logCalls } = applied.record;
  const lines = [...log.toString('latin1').matchAll(/(\d{19})/g)].map((match) => {
    const piece = logCalls.find(({ offset, length }) => match.index >= offset && match.index < offset + length);
    return { writtenAt: Number(match[1]) / 1e6, sentAt: piece?.at ?? Number.NaN };
  });
  expect(lines).toHaveLength(3);
  expect(lines[0]?.sentAt).toBeLessThan(lines[2]?.writtenAt ?? 0);
});
