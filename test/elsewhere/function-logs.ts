import type { Emulator } from './emulator.ts';

/** What functions logged, from the emulator's CloudWatch Logs. */

interface Found {
  logGroups?: { logGroupName: string }[];
  events?: { message: string; timestamp: number }[];
}

/** One action of CloudWatch Logs, for which the tests have no SDK; the emulator checks no signature. */
const call = async ({ url }: Emulator, action: string, input: object): Promise<Found> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `Logs_20140328.${action}`,
      authorization:
        'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/logs/aws4_request, SignedHeaders=, Signature=',
    },
    body: JSON.stringify(input),
  });
  return (await response.json()) as Found;
};

/** Lines that match, one function after the other. */
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
