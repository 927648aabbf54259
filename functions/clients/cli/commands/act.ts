import { ApiError, type Client, isFinalRun, type Resource } from '#clients/client/client.ts';
import { offeredActions, overrideOf } from '#clients/client/run-facts.ts';
import type { DirectAction } from '#run/status.ts';
import { type Call, type Command, ofWatch, ofWorkspace, timeoutOf } from '../arguments.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { followRun } from '../follow-run.ts';
import { program } from '../program.ts';
import { changesOf, fetchSnapshot } from '../run-snapshot.ts';
import type { Session } from '../session.ts';
import { ask, isAttended, print, printJson } from '../terminal.ts';
import { changesInWords } from '../watch-text.ts';
import { statusOf, summary } from './runs.ts';

/** Decisions on a run. The API decides which are possible for this user. */

const shared = {
  comment: { about: 'comment for the run’s timeline', value: 'text', short: 'm' },
  ...ofWorkspace,
};

const afterwards = { watch: { about: 'watch the run afterwards' }, ...ofWatch };

/**
 * The named run. Without one, the workspace's current run, after asking. Without a terminal, an option has to name
 * the workspace.
 */
const chooseRun = async (call: Call, session: Session, verb: string): Promise<Resource> => {
  const named = call.word(0);
  if (named) return session.run(named);
  if (!isAttended() && call.text('workspace') === undefined) {
    throw wrongUsage(
      `No run given. Give one: ${program} ${call.command.name} <run>; or the workspace, for its current run: --workspace <name>`,
    );
  }
  const run = await session.run(undefined);
  if (!isAttended()) return run;
  const { plan } = await fetchSnapshot(session.client, run.id);
  const changes = changesOf(plan);
  print([...summary(run, session.client.url), ...(changes ? [changesInWords(changes, 'plan')] : [])].join('\n'));
  if ((await ask(`${verb} this run? Type "yes" to continue: `)) === 'yes') return run;
  throw new CommandError('No action taken: the answer is not "yes".', exit.interrupted);
};

const refused = async (client: Client, run: Resource<'runs'>, error: unknown): Promise<Error> => {
  if (!(error instanceof ApiError) || error.status !== 409) return error as Error;
  const { run: current, override } = await fetchSnapshot(client, run.id);
  const possible = offeredActions(current, undefined, override).map((action) =>
    action === 'apply' ? 'confirm' : action,
  );
  const advice = possible.length ? `Available actions: ${possible.join(', ')}.` : 'No actions are available now.';
  return new CommandError(`Run ${run.id} has status ${statusOf(current)}. ${advice}`, exit.notNow);
};

const movesWithinMs = 3_000;
const hasMoved =
  (before: Resource<'runs'>) =>
  ({ attributes }: Resource<'runs'>): boolean =>
    attributes.status !== before.attributes.status;

const finish = async (call: Call, { client }: Session, run: Resource<'runs'>, doneText: string) => {
  const json = call.flag('json');
  if (call.flag('watch')) {
    if (!json) print(doneText);
    return followRun(client, run.id, { json, wait: false, onlyNew: true, timeoutMs: timeoutOf(call), started: false });
  }
  // The decision takes effect a moment later: printing the previous status would mislead.
  const current = await client.waitForRun(run.id, hasMoved(run), movesWithinMs).catch(() => client.run(run.id));
  if (json) return printJson({ data: current });
  const watching = isFinalRun(current)
    ? ''
    : ` Status: ${statusOf(current)}. Watch it: ${program} runs watch ${run.id}`;
  print(`${doneText}${watching}`);
};

const acting = (name: string, action: DirectAction, about: string, doneText: string, watch = true): Command => ({
  name: `runs ${name}`,
  about,
  takes: '[run]',
  options: { ...shared, ...(watch ? afterwards : {}) },
  more: 'Without a run ID, acts on the current run of the workspace: after asking, or if --workspace is given in a script.',
  run: async (call, session) => {
    const run = await chooseRun(call, session, name[0]?.toUpperCase() + name.slice(1));
    // The API would accept a repeated confirmation even of a run that has ended.
    if (isFinalRun(run)) throw await refused(session.client, run, new ApiError('POST', `/runs/${run.id}`, 409, ''));
    const said = await session.client.act(run.id, action, call.text('comment')).catch(async (error) => {
      throw await refused(session.client, run, error);
    });
    return finish(call, session, run, said ?? doneText);
  },
});

const override: Command = {
  name: 'runs override',
  about: 'Override the failed policies of a run',
  takes: '[run]',
  options: { ...shared, ...afterwards },
  more: 'Your name and comment are recorded in the run’s timeline.',
  run: async (call, session) => {
    const { client } = session;
    const run = await chooseRun(call, session, 'Override the policies of');
    const { stages } = await fetchSnapshot(client, run.id);
    const path = overrideOf(run, stages);
    if (!path) throw await refused(client, run, new ApiError('POST', `/runs/${run.id}`, 409, ''));
    await client.call('POST', path, { comment: call.text('comment') });
    return finish(call, session, run, 'Policies overridden.');
  },
};

export const actCommands: Command[] = [
  acting('confirm', 'apply', 'Confirm a run and apply its plan', 'Run confirmed.'),
  acting('discard', 'discard', 'Discard a run without applying it', 'Run discarded.', false),
  acting('cancel', 'cancel', 'Cancel a run: Terraform stops as on Ctrl-C and saves its state', 'Cancel requested.'),
  acting(
    'force-cancel',
    'force-cancel',
    'Kill a canceled run that has not stopped after one minute',
    'Run killed.',
    false,
  ),
  override,
];
