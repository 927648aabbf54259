import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ask } from '#clients/cli/ask-aws.ts';
import { CommandError, exit } from '#clients/cli/exit.ts';
import { configuration } from '#clients/cli/preflight.ts';
import { program } from '#clients/cli/program.ts';
import { columns, print, say } from '#clients/cli/terminal.ts';
import type { Local } from '#infra/local/host/folder.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import type { Drained, OpenRun } from '#lifecycle/drain/handler.ts';
import { stackOutput } from './deployed-settings.ts';

/** `stepform drain`: refuses new runs, waits until none is in progress, and lists those that are left. */

interface Target {
  /** For messages. */
  name: string;
  invoke(input: object): Promise<Response | { ok: boolean; text(): Promise<string> }>;
}

const onThisMachine = (folder: string): Target | undefined => {
  let local: Local;
  try {
    local = JSON.parse(readFileSync(join(folder, 'local.json'), 'utf8')) as Local;
  } catch {
    return undefined;
  }
  return {
    name: `the platform on this machine (${folder})`,
    invoke: (input) =>
      operatorFetch(local, '/2015-03-31/functions/DrainFunction/invocations', {
        method: 'POST',
        body: JSON.stringify(input),
        service: 'lambda',
      }),
  };
};

/** @throws {CommandError} */
const onAws = async (stackName: string): Promise<Target> => {
  const { region, credentials } = await configuration();
  if (!region) throw new CommandError('Region not set. Set AWS_REGION, or a region in your AWS profile.');
  if (!credentials) throw new CommandError('AWS credentials not found. Set AWS_PROFILE, or sign in.');
  const caller = { region, credentials };
  const name = await stackOutput(caller, stackName, 'DrainFunctionName');
  if (typeof name !== 'string') throw new CommandError(`${name.what}\n  ${name.todo}`);
  return {
    name: `${stackName} in ${region}`,
    invoke: async (input) => {
      const path = `/2015-03-31/functions/${name}/invocations`;
      const { ok, text } = await ask('lambda', caller, { path, body: JSON.stringify(input) });
      return { ok, text: async () => text };
    },
  };
};

const { values } = parseArgs({
  options: {
    stack: { type: 'string' },
    reason: { type: 'string' },
    status: { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
  },
});

const call = async (target: Target, input: object): Promise<Drained> => {
  const response = await target.invoke(input).catch(({ message }: Error) => {
    throw new CommandError(`Can’t reach ${target.name}: ${message}`);
  });
  const text = await response.text();
  if (!response.ok) throw new CommandError(`${target.name} refused the call: ${text.slice(0, 300)}`);
  const answer = JSON.parse(text) as Drained & { errorMessage?: string };
  if (answer.errorMessage) throw new CommandError(answer.errorMessage);
  return answer;
};

const waitsForUser = ({ waitsFor }: OpenRun): boolean => waitsFor === 'confirmation' || waitsFor === 'override';

const list = ({ runs }: Drained): string =>
  columns(
    runs.map((run) => [
      `  ${run.id}`,
      `${run.organization}/${run.workspace}`,
      run.status,
      waitsForUser(run) ? 'waits for a user' : '',
    ]),
  ).join('\n');

const describe = (target: Target, drained: Drained): void => {
  const { drain, runs } = drained;
  print(
    drain ? `${target.name} creates no runs since ${drain.since}: ${drain.reason}` : `${target.name} creates runs.`,
  );
  print(runs.length ? `${runs.length} in progress:\n${list(drained)}` : 'No run is in progress.');
};

const pollMs = 5000;

/** Prints the runs that are left whenever they change. */
const wait = async (target: Target, first: Drained): Promise<void> => {
  let shown = '';
  for (let drained = first; !drained.done; drained = await call(target, { action: 'status' })) {
    if (!drained.drain) throw new CommandError('The drain was ended meanwhile.');
    const left = drained.runs.length
      ? `${drained.runs.length} in progress:\n${list(drained)}`
      : 'No run is in progress. Waiting for requests that began before the drain.';
    if (left !== shown) say(left);
    shown = left;
    await sleep(pollMs);
  }
};

const drain = async (): Promise<void> => {
  if (values.status && values.resume) throw new CommandError('--status, --resume: give one of them.', exit.usage);
  const folder = resolve(process.env.STEPFORM_DATA || '.stepform');
  const target = (values.stack ? undefined : onThisMachine(folder)) ?? (await onAws(values.stack ?? 'Stepform'));
  if (values.status) return describe(target, await call(target, { action: 'status' }));
  if (values.resume) {
    await call(target, { action: 'resume' });
    return print(`${target.name} creates runs again.`);
  }
  const started = await call(target, { action: 'start', reason: values.reason ?? 'maintenance' });
  say(`${target.name} creates no runs: ${started.drain?.reason}. Ctrl-C stops waiting, not the drain.`);
  await wait(target, started);
  print(`Drained: no run is in progress, and none can begin until ${program} drain --resume.`);
};

try {
  await drain();
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  say(error.message);
  process.exitCode = error.exitCode;
}
