import { describe, expect, it } from 'vitest';
import { compilePattern } from '#infra/local/aws/iam/pattern.ts';

const event = {
  source: 'aws.s3',
  resources: ['arn:one', 'arn:two'],
  detail: {
    bucket: { name: 'b' },
    object: { key: 'configurations/cv-1.tar.gz', size: 12 },
    code: null,
    containers: [{ exitCode: 1 }, {}],
  },
};

describe('an event pattern', () => {
  it.each([
    ['an exact value', { source: ['aws.s3'] }, true],
    ['one of several', { source: ['aws.ecs', 'aws.s3'] }, true],
    ['another value', { source: ['aws.ecs'] }, false],
    ['a number is not its text', { detail: { object: { size: ['12'] } } }, false],
    ['a number', { detail: { object: { size: [12] } } }, true],
    ['null', { detail: { code: [null] } }, true],
    ['all fields must match', { source: ['aws.s3'], detail: { bucket: { name: ['other'] } } }, false],
    ['an element of a list', { resources: ['arn:two'] }, true],
    ['a prefix', { detail: { object: { key: [{ prefix: 'configurations/' }] } } }, true],
    ['another prefix', { detail: { object: { key: [{ prefix: 'states/' }] } } }, false],
    ['a suffix', { detail: { object: { key: [{ suffix: '.gz' }] } } }, true],
    ['anything but', { source: [{ 'anything-but': ['aws.s3'] }] }, false],
    ['exists', { detail: { object: { key: [{ exists: true }] } } }, true],
    ['does not exist', { detail: { reason: [{ exists: false }] } }, true],
    ['a field below one that is missing', { detail: { nothing: { here: ['x'] } } }, false],
    ['a wildcard', { detail: { object: { key: [{ wildcard: 'conf*/cv-*.gz' }] } } }, true],
    [
      'a wildcard that is no expression',
      { detail: { object: { key: [{ wildcard: 'configurations/cv.1*' }] } } },
      false,
    ],
    ['a field of one object of a list', { detail: { containers: { exitCode: [{ 'anything-but': [0] }] } } }, true],
    ['a field of no object of a list', { detail: { containers: { exitCode: [0, 2] } } }, false],
    ['one of several patterns', { $or: [{ source: ['aws.ecs'] }, { resources: ['arn:one'] }] }, true],
    ['none of several patterns', { $or: [{ source: ['aws.ecs'] }, { resources: ['arn:three'] }] }, false],
    ['one of several, but not another field', { source: ['aws.ecs'], $or: [{ resources: ['arn:one'] }] }, false],
    ['ignoring case', { source: [{ 'equals-ignore-case': 'AWS.S3' }] }, true],
  ])('matches with %s', (_, pattern, expected) => {
    expect(compilePattern(pattern, 'Rule')(event)).toBe(expected);
  });

  it('rejects unknown operators and names the rule', () => {
    expect(() => compilePattern({ detail: { object: { size: [{ numeric: ['>', 5] }] } } }, 'BigObjects')).toThrow(
      /rule BigObjects.*numeric/,
    );
  });
});
