import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Mask, secretsOf } from '#platform/formats/mask.ts';

const through = (secrets: string[], chunks: (string | Buffer)[]): string => {
  const mask = new Mask(secrets);
  const out = chunks.map((chunk) => mask.push(Buffer.from(chunk as string)));
  return Buffer.concat([...out, mask.end()]).toString('utf8');
};

const variable = (value: string, hcl = false) => ({
  key: 'x',
  value,
  category: 'terraform' as const,
  hcl,
  sensitive: true,
});

describe('a sensitive value', () => {
  it.each([
    [['password'], ['my pass', 'word!'], 'my (sensitive value)!'],
    [['password'], ['p', 'a', 's', 's', 'w', 'o', 'r', 'd'], '(sensitive value)'],
    [['password'], ['pass', 'age'], 'passage'],
    [['abcd', 'abcdef'], ['xabcd', 'ef', 'y'], 'x(sensitive value)y'],
    [['abcd', 'cdef'], ['abcdef'], '(sensitive value)'],
    [['aaaa'], ['aa', 'aaaa', 'b'], '(sensitive value)b'],
    [['abcabd'], ['abcabcabd'], 'abc(sensitive value)'],
    [
      ['schlüssel'],
      [Buffer.from('schlüssel').subarray(0, 5), Buffer.from('schlüssel').subarray(5)],
      '(sensitive value)',
    ],
  ])('%j in %j', (secrets, chunks, expected) => {
    expect(through(secrets, chunks)).toBe(expected);
  });

  it('is hidden in all forms in which Terraform prints it', () => {
    const secrets = secretsOf([variable('two "lines"\n  of secret'), variable('{ password = "hunter2!" }', true)]);
    const log = through(secrets, [
      'a = <<-EOT\n    two "lines"\n      of secret\n  b = "two \\"lines\\"\\n  of secret" c = "hunter2!"',
    ]);
    expect(log).not.toMatch(/lines|of secret|hunter/);
  });

  it('is hidden where Terraform breaks a message between its words', () => {
    const secrets = secretsOf([variable('correct horse battery staple')]);
    const frame = '\u001b[31m│\u001b[0m \u001b[0m';
    const broken = `${frame}The password is correct horse\n${frame}battery staple.\n`;
    const hidden = `${frame}The password is (sensitive value).\n`;
    expect(through(secrets, [broken])).toBe(hidden);
    expect(through(secrets, [...broken].map(String))).toBe(hidden);
    expect(through(secrets, ['a correct horse', '\n', 'is fast'])).toBe('a correct horse\nis fast');
    expect(through(secrets, ['a correct horsebattery staple'])).toBe('a correct horsebattery staple');
  });

  it('is hidden as written in an HCL expression, and as evaluated', () => {
    const secrets = secretsOf([variable('{ a = "say \\"friend\\" and enter" }', true)]);
    expect(through(secrets, ['say \\"friend\\" and enter, say "friend" and enter'])).toBe(
      '(sensitive value), (sensitive value)',
    );
  });

  it('is hidden in every text of a JSON value', () => {
    const mask = new Mask(['hunter2']);
    expect(mask.json({ hunter2: [{ b: 'it is hunter2', c: 2, d: null, e: true }] })).toEqual({
      hunter2: [{ b: 'it is (sensitive value)', c: 2, d: null, e: true }],
    });
  });

  it('is not masked if it is too short or too common', () => {
    const secrets = secretsOf([variable('true'), variable('abc'), variable('')]);
    expect(through(secrets, ['true abc'])).toBe('true abc');
  });

  it('is not masked if it is not sensitive', () => {
    expect(secretsOf([{ ...variable('visible'), sensitive: false }])).toEqual([]);
  });

  it('is masked however the output is split, and nothing else changes', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 60 });
    const secret = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 4, maxLength: 7 });
    fc.assert(
      fc.property(
        letters,
        fc.array(secret, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(60)),
        (text, secrets, cuts) => {
          const at = [...new Set(cuts)].sort((a, b) => a - b);
          const chunks = [...at, text.length].map((end, i) => text.slice(at[i - 1] ?? 0, end));
          const whole = new Mask(secrets).text(text);
          expect(through(secrets, chunks)).toBe(whole);
          for (const one of secrets)
            expect(whole.split('(sensitive value)').some((rest) => rest.includes(one))).toBe(false);
          if (!secrets.some((one) => text.includes(one))) expect(whole).toBe(text);
        },
      ),
    );
  });
});
