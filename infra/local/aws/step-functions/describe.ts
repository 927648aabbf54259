import { randomUUID } from 'node:crypto';
import type { Entry } from './catalog.ts';
import { type End, maxEvents } from './execution.ts';

/** Executions can be redriven for this long after their end (Developer Guide: redrive). */
const redrivableMs = 14 * 24 * 3600 * 1000;

/** Why an execution cannot be redriven; undefined if it can (API reference: redriveStatusReason). */
export const notRedrivable = ({ status, stop, events }: Entry, now: number): string | undefined => {
  if (status === 'RUNNING' || status === 'SUCCEEDED') return `Execution is ${status} and cannot be redriven`;
  if (events >= maxEvents - 1) return 'Execution history event limit exceeded';
  if (now - stop! > redrivableMs) return 'Execution redrivable period exceeded';
  return undefined;
};

const redriveStatus = (entry: Entry, now: number) => {
  const reason = notRedrivable(entry, now);
  return { redriveStatus: reason ? 'NOT_REDRIVABLE' : 'REDRIVABLE', redriveStatusReason: reason };
};

const dateOf = (ms: number | undefined): Date | undefined => (ms === undefined ? undefined : new Date(ms));

export const listItem = (entry: Entry): object => ({
  executionArn: entry.executionArn,
  stateMachineArn: entry.stateMachineArn,
  name: entry.name,
  status: entry.status,
  startDate: dateOf(entry.start),
  stopDate: dateOf(entry.stop),
  redriveCount: entry.redriveCount,
  redriveDate: dateOf(entry.redriven),
});

/** DescribeExecution; fields that do not apply are absent. */
export const description = (entry: Entry, input: string, end: End, now: number): object => ({
  ...listItem(entry),
  input,
  inputDetails: { included: true },
  ...(end.output !== undefined && { output: end.output, outputDetails: { included: true } }),
  ...(end.error !== undefined && { error: end.error }),
  ...(end.cause !== undefined && { cause: end.cause }),
  ...redriveStatus(entry, now),
});

/** Above this size the event omits the input, then the output (Developer Guide: EventBridge payloads). */
const maxEventBytes = 248 * 1024;

export type StatusChange = ReturnType<typeof statusChangeEvent>;

/** The EventBridge event; fields that do not apply are null, dates are milliseconds (Developer Guide: events). */
export const statusChangeEvent = (entry: Entry, input: string, end: End, now: number) => {
  const bytes = (text: string | undefined) => (text === undefined ? 0 : Buffer.byteLength(JSON.stringify(text)));
  const withOutput = end.output !== undefined && bytes(end.output) <= maxEventBytes;
  const withInput = bytes(input) + bytes(end.output) <= maxEventBytes;
  const { redriveStatus: status, redriveStatusReason: reason } = redriveStatus(entry, now);
  const [, , , region, account] = entry.executionArn.split(':');
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Step Functions Execution Status Change',
    source: 'aws.states',
    account,
    time: `${new Date(now).toISOString().slice(0, 19)}Z`,
    region,
    resources: [entry.executionArn],
    detail: {
      executionArn: entry.executionArn,
      stateMachineArn: entry.stateMachineArn,
      name: entry.name,
      status: entry.status,
      startDate: entry.start,
      stopDate: entry.stop ?? null,
      input: withInput ? input : null,
      output: withOutput ? end.output : null,
      stateMachineVersionArn: null,
      stateMachineAliasArn: null,
      redriveCount: entry.redriveCount,
      redriveDate: entry.redriven ?? null,
      redriveStatus: status,
      redriveStatusReason: reason ?? null,
      inputDetails: { included: withInput },
      outputDetails: end.output === undefined ? null : { included: withOutput },
      error: end.error ?? null,
      cause: end.cause ?? null,
    },
  };
};
