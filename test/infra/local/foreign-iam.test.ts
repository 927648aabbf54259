import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Access } from '#infra/local/aws/iam/iam.ts';
import { decisionRecorder } from '#infra/local/host/recorder.ts';
import { checkDecisions } from '#test/e2e/support/foreign-iam.ts';
import { template } from '../template.ts';

const folder = mkdtempSync(join(tmpdir(), 'decisions-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const arn = (service: string, resource: string) => `arn:aws:${service}:us-east-1:000000000000:${resource}`;
const idOf = (type: string, start = '') =>
  Object.keys(template.Resources).find((id) => template.Resources[id]?.Type === type && id.startsWith(start)) ?? '';
const table = arn('dynamodb', `table/${idOf('AWS::DynamoDB::Table')}`);
const machine = arn('states', `stateMachine:${idOf('AWS::StepFunctions::StateMachine')}`);

const judge = (start: string, access: Access, isAllowed: boolean) => {
  const file = join(folder, `${Math.random()}.jsonl`);
  const role = `arn:aws:iam::000000000000:role/${idOf('AWS::IAM::Role', start)}`;
  writeFileSync(file, `${JSON.stringify({ role, access, isAllowed })}\n`);
  return checkDecisions(file, template);
};

describe('the foreign evaluator of IAM', () => {
  const read: Access = { action: 'dynamodb:GetItem', resource: table, context: { 'dynamodb:LeadingKeys': 'RUN#1' } };
  const trail: Access = {
    action: 'dynamodb:UpdateItem',
    resource: table,
    context: { 'dynamodb:LeadingKeys': 'AUDIT#1' },
  };

  it('agrees with right decisions', async () => {
    await judge('RunsRole', read, true);
    await judge('RunsRole', trail, false);
    await judge('RunsRole', { action: 'states:SendTaskSuccess', resource: machine }, true);
    await judge(
      'RunsRole',
      { action: 'states:StopExecution', resource: `${machine.replace(':stateMachine', ':execution')}:run-1` },
      false,
    );
  });

  it.each([
    ['a call that only our evaluator allows', trail, true, 'is allowed here and denied elsewhere'],
    ['a call that only our evaluator denies', read, false, 'is denied here and allowed elsewhere'],
    [
      'an action that IAM does not know',
      { action: 'dynamodb:ReadItem', resource: table },
      false,
      'dynamodb:ReadItem on ',
    ],
    ['a resource of another kind than the action has', { ...read, resource: machine }, false, 'dynamodb:GetItem on '],
  ])('reports %s', async (_, access, isAllowed, problem) => {
    await expect(judge('RunsRole', access, isAllowed)).rejects.toThrow(problem);
  });

  it('is not without calls', async () => {
    await expect(checkDecisions(join(folder, 'none.jsonl'), template)).rejects.toThrow('no decision was recorded');
  });
});

it('decisions that differ only in ids are recorded once', () => {
  const file = join(folder, 'recorded.jsonl');
  const record = decisionRecorder(file);
  const of = (resource: string): Access => ({ action: 's3:GetObject', resource });
  record?.('role', of('arn:aws:s3:::bucket/runs/run-0123456789abcdef/log'), true);
  record?.('role', of('arn:aws:s3:::bucket/runs/run-fedcba9876543210/log'), true);
  record?.('role', of('arn:aws:s3:::bucket/states/sv-0123456789abcdef'), true);
  record?.('other', of('arn:aws:s3:::bucket/runs/run-0123456789abcdef/log'), false);
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(3);
});
