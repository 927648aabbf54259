import type { IncomingMessage } from 'node:http';
import { readSignature, sha256 } from '#infra/local/aws/iam/signature.ts';
import type { Usage } from '#infra/local/aws/lambda/usage.ts';
import { type Callers, isOperator } from './callers.ts';
import { AwsError } from './errors.ts';
import { type Faults, readFaults } from './faults.ts';

interface Operated {
  callers: Callers;
  faults: Faults;
  usage: Usage;
  services: {
    ecs: { secondsOf(run: string): number };
    states: { transitions(executionName: string): number };
  };
}

/**
 * Extra routes of the AWS endpoint for the operator of this machine: `GET /_usage?run=run-…` counts a run's calls (with
 * `&steps` each one), `GET /_faults` lists fault rules with their counts, `PUT /_faults` replaces them with a JSON
 * array of rules. Returns the JSON, or undefined for a request to AWS.
 * @throws AwsError for an invalid request, or without the operator's signature
 */
export const operate = async (
  request: IncomingMessage,
  options: Operated,
  body: () => Promise<Buffer>,
): Promise<object | undefined> => {
  const { method, url = '/' } = request;
  const isUsage = method === 'GET' && url.startsWith('/_usage');
  if (!isUsage && url !== '/_faults') return undefined;
  const content = await body();
  if (!isOperator(options.callers.identify(request, readSignature(request), sha256(content))))
    throw new AwsError('AccessDeniedException', 'Only the operator of this machine may do that.', 403);
  if (isUsage) return usageOf(url, options);
  if (method === 'PUT') options.faults.set(readFaults(content.toString()));
  else if (method !== 'GET') throw new AwsError('ValidationException', 'GET or PUT /_faults', 405);
  return options.faults.list();
};

const usageOf = (url: string, { services, usage }: Operated): object => {
  const { searchParams } = new URL(url, 'http://localhost');
  const run = searchParams.get('run');
  if (!run) throw new AwsError('ValidationException', 'Name a run: /_usage?run=run-…');
  const answer = usage.of(run, services.states.transitions(run));
  const steps = searchParams.has('steps') ? { steps: usage.stepsOf(run) } : {};
  return { ...answer, runningTaskSeconds: services.ecs.secondsOf(run), ...steps };
};
