import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { synthesize } from '#infra/build/synth.ts';
import { idleCosts, metricsOfAlarm, metricsOfDashboard, otherStandingCosts } from './idle.ts';
import { page, withCosts } from './tables.ts';

const { template } = await synthesize({ context: {} });
const properties = (type: string) =>
  Object.values(template.Resources)
    .filter(({ Type }) => Type === type)
    .map(({ Properties = {} }) => Properties);

describe('the idle stack', () => {
  it('costs at most $3 a month, without any free tier', () => {
    const lines = idleCosts(template);
    const total = lines.reduce((sum, { usd }) => sum + usd, 0);
    expect(lines.map(({ what, usd }) => [what, usd])).not.toContainEqual([expect.anything(), Number.NaN]);
    expect(total).toBeGreaterThan(2);
    expect(total).toBeLessThanOrEqual(3);
  });

  it('has no resource without a counted price', () => {
    expect(otherStandingCosts(template)).toEqual([]);
  });

  it('stays within the free alarms of an account', () => {
    const counted = properties('AWS::CloudWatch::Alarm').map(metricsOfAlarm);
    expect(counted.reduce((sum, metrics) => sum + metrics, 0)).toBeLessThanOrEqual(10);
    expect(metricsOfAlarm({ Metrics: [{ Expression: 'a + b' }, { MetricStat: {} }, { MetricStat: {} }] })).toBe(2);
  });

  it('has a free dashboard of at most 50 metrics', () => {
    const [metrics, ...more] = properties('AWS::CloudWatch::Dashboard').map(metricsOfDashboard);
    expect(more).toEqual([]);
    expect(metrics).toBeGreaterThan(20);
    expect(metrics).toBeLessThanOrEqual(50);
  });

  it('rotates its key rarely enough to keep its price', () => {
    const rotating = properties('AWS::KMS::Key').filter(({ EnableKeyRotation }) => EnableKeyRotation);
    expect(rotating).toHaveLength(1);
    expect(rotating[0]).toMatchObject({ RotationPeriodInDays: 2560 });
  });
});

it('infra/docs/costs.md has the current figures (npm run costs)', () => {
  const text = readFileSync(page, 'utf8');
  expect(withCosts(text, template)).toBe(text);
});
