import { AwsClient } from 'aws4fetch';
import type { Emulator } from './emulator.ts';

/** Logs of functions, from the emulator's CloudWatch Logs. */

interface Found {
  logGroups?: { logGroupName: string }[];
  events?: { message: string; timestamp: number }[];
}

const client = new AwsClient({
  accessKeyId: 'test',
  secretAccessKey: 'test',
  service: 'logs',
  region: 'us-east-1',
  retries: 1,
});

/** One action of CloudWatch Logs, for which the tests have no SDK. */
const call = async ({ url }: Emulator, action: string, input: object): Promise<Found> => {
  const response = await client.fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `Logs_20140328.${action}` },
    body: JSON.stringify(input),
  });
  return (await response.json()) as Found;
};

/** Matching lines, by function. */
export const functionLogs = async (emulator: Emulator, matches: RegExp): Promise<string[]> => {
  const { logGroups = [] } = await call(emulator, 'DescribeLogGroups', {});
  const lines = await Promise.all(
    logGroups.map(async ({ logGroupName }) => {
      const { events = [] } = await call(emulator, 'FilterLogEvents', { logGroupName });
      return events.filter(({ message }) => matches.test(message)).map(({ message }) => `${logGroupName}: ${message}`);
    }),
  );
  return lines.flat();
};
