import { describe, expect, it } from 'vitest';
import { OutputReader } from '#runner/program/output.ts';

const read = (text: string, size = 7, masked?: (text: string) => string): OutputReader => {
  const reader = new OutputReader(masked);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  return reader;
};

const esc = '\u001B';
/** Output of terraform 1.11.4. */
const box = `${esc}[31m╷${esc}[0m${esc}[0m
${esc}[31m│${esc}[0m ${esc}[0m${esc}[1m${esc}[31mError: ${esc}[0m${esc}[0m${esc}[1mMissing expression${esc}[0m
${esc}[31m│${esc}[0m ${esc}[0m
${esc}[31m│${esc}[0m ${esc}[0m${esc}[0m  on ../variables/foo.tfvars line 2:
${esc}[31m│${esc}[0m ${esc}[0m   2: ${esc}[4m${esc}[0m${esc}[0m
${esc}[31m╵${esc}[0m${esc}[0m
`;

describe('the failure in the report', () => {
  it('is the first errors with their locations, in text', () => {
    expect(read(box).failure).toBe('Missing expression (variables/foo.tfvars line 2).');
    expect(read(`${box}${box}│ Error: Another\n│ Error: Third\n│ Error: Fourth\n`).failure).toBe(
      'Missing expression (variables/foo.tfvars line 2); Another; Third.',
    );
  });
  const precondition = `╷
│ Error: Resource precondition failed
│ 
│   with terraform_data.a["x"],
│   on main.tf line 6, in resource "terraform_data" "a":
│    6:       condition     = var.region == "eu"
│     ├────────────────
│     │ var.region is "us"
│ 
│ Only eu is allowed here,
│ and nothing else.
│ 
│ See the handbook.
╵
`;
  it('has the first paragraph of the explanation and the resource', () => {
    const text =
      'Resource precondition failed: Only eu is allowed here, and nothing else (terraform_data.a["x"], main.tf line 6)';
    expect(read(precondition).failure).toBe(`${text}.`);
    expect(read(`${precondition}${box}`).failure).toBe(`${text}; Missing expression (variables/foo.tfvars line 2).`);
    const long = `│ Error: A\n│ \n│ ${'b'.repeat(300)}\n╵\nnot ours\n`;
    expect(read(long).failure).toBe(`A: ${'b'.repeat(200)}….`);
    expect(read('│ Error: A\n│ \n│ A\n╵\n').failure).toBe('A.');
  });
  it('hides a secret that reaches over the end of the text or of a line', () => {
    const secret = 'hunter2\nof-several-lines';
    const masked = (text: string) => text.replaceAll(secret, '(sensitive value)');
    const shown = `A: ${'b'.repeat(190)} (sensitiv`;
    const text = `│ Error: A\n│ \n│ ${'b'.repeat(190)} ${secret.replace('\n', '\n│ ')}\n╵\n`;
    expect(read(text, 7, masked).failure).toBe(`${shown}….`);
    const diagnostic = { severity: 'error', summary: 'A', detail: `${'b'.repeat(190)} ${secret}` };
    const json = `${JSON.stringify({ '@level': 'error', type: 'diagnostic', diagnostic })}\n`;
    expect(read(json, 7, masked).failure).toBe(`${shown}….`);
  });
  it('is the same in JSON', () => {
    const diagnostic = (severity: string, summary: string, range?: object, more = {}) =>
      `${JSON.stringify({ '@level': 'error', type: 'diagnostic', diagnostic: { severity, summary, range, ...more } })}\n`;
    const text =
      diagnostic('warning', 'Mind the gap') +
      diagnostic('error', 'Missing expression', { filename: '../variables/foo.tfvars', start: { line: 2 } }) +
      diagnostic('error', 'No place', undefined, { address: 'a.b', detail: 'Why,\nin short.\n\nAnd at length.' });
    expect(read(text).failure).toBe('Missing expression (variables/foo.tfvars line 2); No place: Why, in short (a.b).');
  });
  it("is absent without an error, regardless of other programs' output", () => {
    expect(
      read('terraform_data.a (local-exec): Error: not ours\nWarning: x\n{"@level" broken\n').failure,
    ).toBeUndefined();
  });
});

describe('failed checks', () => {
  const text = `╷
│ Warning: Check block assertion failed
│ 
│   on main.tf line 5, in check "api":
│    5:     condition     = terraform_data.a.output == "2"
│ 
│ The API answers with 1,
│ which is not 2.
╵
╷
│ Warning: Argument is deprecated
│ 
│   on main.tf line 9, in resource "a" "b":
│ 
│ Use another.
╵
`;
  it('are the warnings of check blocks, in text and JSON, each once', () => {
    const api = { address: 'check.api', message: 'The API answers with 1, which is not 2.' };
    expect(read(`${text}${text}`).failedChecks).toEqual([api]);
    expect(read(text).failure).toBeUndefined();
    const line = (severity: string, context: string | null, detail: string) =>
      `${JSON.stringify({ '@level': 'warn', type: 'diagnostic', diagnostic: { severity, summary: 'S', detail, snippet: { context } } })}\n`;
    const lines = [line('warning', 'check "api"', api.message), line('warning', 'resource "a" "b"', 'x')];
    expect(read(lines.join('')).failedChecks).toEqual([api]);
  });
  it('are limited in number and length', () => {
    const many = Array.from({ length: 30 }, (_, n) =>
      text.replace('"api"', `"c${n}"`).replace('with 1', 'y'.repeat(400)),
    );
    const checks = read(many.join('')).failedChecks;
    expect([checks.length, checks[0]?.message.length]).toEqual([10, 200]);
  });
});

describe('the applied changes', () => {
  it.each([
    ['Apply complete! Resources: 2 added, 1 changed, 3 destroyed.', [2, 1, 3, 0]],
    ['Apply complete! Resources: 4 imported, 2 added, 0 changed, 0 destroyed.', [2, 0, 0, 4]],
    ['Destroy complete! Resources: 5 destroyed.', [0, 0, 5, 0]],
  ])('are taken from Terraform’s summary: %s', (line, [added, changed, destroyed, imported]) => {
    expect(read(`${esc}[0m${esc}[1m${esc}[32m\n${line}\n${esc}[0m`).applied).toEqual({
      additions: added,
      changes: changed,
      destructions: destroyed,
      imports: imported,
    });
  });
  it('are the completed ones after an interruption', () => {
    const text = `${esc}[0m${esc}[1mterraform_data.a: Creation complete after 0s [id=1]${esc}[0m
${esc}[0m${esc}[1mmodule.x["a: b"].terraform_data.b[0]: Creation complete after 1m2s [id=2]${esc}[0m
terraform_data.c: Destruction complete after 0s
terraform_data.d: Modifications complete after 0s [id=4]
terraform_data.e: Import complete [id=5]
terraform_data.f (local-exec): x: Creation complete after 0s
  + terraform_data.g: Creation complete in a dream
`;
    expect(read(text).applied).toEqual({
      additions: 2,
      changes: 1,
      destructions: 1,
      imports: 1,
    });
  });
  it('are read from JSON too', () => {
    const lines = [
      { type: 'change_summary', changes: { add: 9, change: 9, remove: 9, operation: 'plan' } },
      { type: 'apply_complete', hook: { action: 'create' } },
      { type: 'apply_complete', hook: { action: 'delete' } },
    ].map((line) => `${JSON.stringify({ '@level': 'info', ...line })}\n`);
    expect(read(lines.join('')).applied).toMatchObject({ additions: 1, destructions: 1 });
    const last = { '@level': 'info', type: 'change_summary', changes: { add: 3, import: 1, operation: 'apply' } };
    expect(read(`${lines.join('')}${JSON.stringify(last)}\n`).applied).toMatchObject({
      additions: 3,
      imports: 1,
    });
  });
});
