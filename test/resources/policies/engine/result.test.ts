import { describe, expect, it } from 'vitest';
import { judge, maxMessage, maxMessages } from '#resources/policies/engine/result.ts';
import {
  checkCount,
  judgeCheck,
  judgeEvaluation,
  type PolicyOutcome,
  type PolicySetOutcome,
  resultCount,
} from '#run/policies.ts';

const deny = 'data.terraform.deny';

describe('the result of a policy', () => {
  it.each([
    [[], 'passed', []],
    [['no'], 'failed', ['no']],
    [[{ msg: 'no', address: 'a.b' }], 'failed', [{ msg: 'no', address: 'a.b' }]],
    [true, 'failed', []],
    [false, 'passed', []],
  ])('%j: %s', (value, status, output) => expect(judge({ value }, deny)).toEqual({ status, output }));

  it.each([
    ['data.a.allow', true, 'passed'],
    ['data.a.allow', false, 'failed'],
    ['data["a"]["deny_public"]', true, 'failed'],
    ['data.a.violation', true, 'failed'],
    ['count(data.terraform.deny) == 0', true, 'passed'],
    ['data.denyall.main', false, 'failed'],
  ])('%s is %s: %s', (query, value, status) => expect(judge({ value }, query).status).toBe(status));

  it.each([
    ['text', 'a string'],
    [1, 'a number'],
    [null, 'null'],
    [{ a: 1 }, 'an object'],
    [[1], 'a list with other items'],
    [[['no']], 'a list with other items'],
    [[null], 'a list with'],
  ])('%j is an error that names the expected result', (value, shape) => {
    const { status, error } = judge({ value }, deny);
    expect(status).toBe('errored');
    expect(error).toContain(`${deny} returned ${shape}`);
    expect(error).toContain('return a set or a list of messages');
  });

  it('is truncated at a length', () => {
    const many = judge({ value: Array.from({ length: maxMessages + 7 }, (_, i) => `no ${i}`) }, deny);
    expect(many.output).toHaveLength(maxMessages + 1);
    expect(many.output.at(-1)).toBe('… and 7 more');
    const long = judge({ value: ['x'.repeat(10_000), { msg: 'y'.repeat(10_000), z: 1 }] }, deny).output;
    expect(long[0]).toHaveLength(maxMessage);
    expect(JSON.stringify(long[1]).length).toBeLessThan(maxMessage + 20);
  });
});

const outcome = (change: Partial<PolicyOutcome>): PolicyOutcome => ({
  policyName: 'p',
  description: '',
  enforcementLevel: 'mandatory',
  status: 'passed',
  output: [],
  ...change,
});
const set = (outcomes: Partial<PolicyOutcome>[], change: Partial<PolicySetOutcome> = {}): PolicySetOutcome => ({
  policySetId: 'polset-a',
  policySetName: 'network',
  policySetDescription: '',
  kind: 'opa',
  overridable: false,
  policyToolVersion: '1.19.0',
  outcomes: outcomes.map(outcome),
  warnings: [],
  ...change,
});

describe('a policy evaluation', () => {
  const failed = { status: 'failed' } as const;
  const advisory = { status: 'failed', enforcementLevel: 'advisory' } as const;
  const errored = { status: 'errored', error: 'it loops' } as const;
  const overridable = { overridable: true };
  it.each([
    ['nothing', [], 'passed'],
    ['all passed', [set([{}, {}])], 'passed'],
    ['an advisory one failed', [set([advisory])], 'passed'],
    ['an advisory one errored', [set([{ ...errored, enforcementLevel: 'advisory' }])], 'passed'],
    ['a mandatory one failed', [set([{}, failed])], 'failed'],
    ['a mandatory one errored', [set([errored])], 'failed'],
    ['one failed that may be overridden', [set([failed], overridable), set([{}])], 'overridable'],
    ['one of two that failed may be overridden', [set([failed], overridable), set([failed])], 'failed'],
    [
      'a soft-mandatory one failed',
      [set([{ ...failed, enforcementLevel: 'soft-mandatory' }], { kind: 'sentinel' })],
      'overridable',
    ],
    [
      'a hard-mandatory one failed',
      [set([{ ...failed, enforcementLevel: 'hard-mandatory' }], { kind: 'sentinel', ...overridable })],
      'failed',
    ],
    ['a set could not be judged', [set([], { error: 'no OPA' })], 'failed'],
    ['a set could not be judged that may be overridden', [set([], { error: 'no OPA', ...overridable })], 'overridable'],
  ])('%s', (_, sets, verdict) => {
    const judged = judgeEvaluation(sets);
    expect(judged.verdict).toBe(verdict);
    expect(judged.reason !== undefined).toBe(verdict !== 'passed');
  });

  it('names the failed policies and the reasons', () => {
    const { reason } = judgeEvaluation([set([failed, { ...errored, policyName: 'q' }]), set([], { error: 'no OPA' })]);
    expect(reason).toBe(
      'Policy "p" of set "network" failed. Policy "q" of set "network" could not be evaluated: it loops Policy set "network" could not be evaluated: no OPA',
    );
    expect(judgeEvaluation([set(Array.from({ length: 8 }, () => failed))]).reason).toMatch(/And 3 more\.$/);
  });

  it('counts', () => {
    expect(resultCount([set([{}, failed, advisory, errored]), set([], { error: 'x' })])).toEqual({
      passed: 1,
      'mandatory-failed': 1,
      'advisory-failed': 1,
      errored: 2,
    });
  });
});

describe('a policy check', () => {
  const at = (enforcementLevel: PolicyOutcome['enforcementLevel'], status: PolicyOutcome['status'] = 'failed') => ({
    enforcementLevel,
    status,
  });
  it.each([
    ['advisory only', [at('advisory')], 'passed'],
    ['soft', [at('advisory'), at('soft-mandatory')], 'soft_failed'],
    ['soft that errored', [at('soft-mandatory', 'errored')], 'soft_failed'],
    ['hard wins', [at('soft-mandatory'), at('hard-mandatory')], 'hard_failed'],
    ['hard that errored', [at('hard-mandatory', 'errored')], 'hard_failed'],
  ])('%s', (_, outcomes, verdict) => expect(judgeCheck([set(outcomes)]).verdict).toBe(verdict));

  it('fails hard when a set could not be evaluated', () => {
    expect(judgeCheck([set([], { error: 'Sentinel is not installed', overridable: true })]).verdict).toBe(
      'hard_failed',
    );
  });

  it('counts', () => {
    const all = [at('advisory'), at('soft-mandatory'), at('hard-mandatory', 'errored'), at('hard-mandatory', 'passed')];
    expect(checkCount([set(all)])).toEqual({ passed: 1, 'advisory-failed': 1, 'soft-failed': 1, 'hard-failed': 1 });
  });
});
