import { ApiError, type Client, type Resource, related } from '#clients/client/client.ts';
import { factsOf, mayDecide, since } from '#clients/client/run-facts.ts';
import { problemsOf } from '#clients/client/text/health.ts';
import { rejectionOf } from '#clients/client/text/policy-sets.ts';
import { ago, count, timeOfDay } from '#clients/client/text/time.ts';
import { displayStatus, type Tone } from '#run/display.ts';
import { type Command, ofOrganization } from '../arguments.ts';
import { type ExitCode, exit } from '../exit.ts';
import { withRetries } from '../network-timeout.ts';
import { bold, dim, green, plain, yellow } from '../paint.ts';
import { withTeamNames } from '../people.ts';
import { program } from '../program.ts';
import { columns, cut, print, printJson } from '../terminal.ts';
import { statusOf } from './runs.ts';
import { lockText } from './workspaces.ts';

/** Runs and workspaces that need a user's attention, across the workspaces of an organization. */

interface Entry {
  workspace: Resource<'workspaces'>;
  run: Resource<'runs'> | undefined;
  tone: Tone;
  /** The user may decide the run. */
  isDecider: boolean;
  problems: string[];
  lock: string;
}

const read = async (client: Client, organization: string): Promise<{ data: Resource[]; included: Resource[] }> =>
  client.some(
    // Environments have their own commands and list.
    `/organizations/${encodeURIComponent(organization)}/workspaces?include=current_run,current_assessment_result,locked_by&filter[managed]=false`,
    10_000,
  );

/** Rows of policy sets whose newest version was rejected. None for users without permission to read policies. */
const rejectedPolicies = async (client: Client, organization: string): Promise<string[][]> => {
  const path = `/organizations/${encodeURIComponent(organization)}/policy-sets?include=newest_version`;
  try {
    const { data, included } = await client.some<'policy-sets'>(path, 10_000);
    return data.flatMap((set) => {
      const problem = rejectionOf(set, included);
      return problem ? [[`  ${bold(plain(set.attributes.name))}`, yellow(plain(problem).split('\n')[0] ?? '')]] : [];
    });
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return [];
    throw error;
  }
};

const entryOf = (workspace: Resource<'workspaces'>, included: Resource[]): Entry => {
  const find = (name: string) => included.find(({ id }) => id === related(workspace, name));
  const run = find('current-run') as Resource<'runs'> | undefined;
  const assessment = find('current-assessment-result') as Resource<'assessment-results'> | undefined;
  return {
    workspace,
    run,
    tone: run ? displayStatus(factsOf(run)).tone : 'neutral',
    isDecider: run !== undefined && mayDecide(run),
    problems: problemsOf(assessment, run).map(({ text }) => text),
    lock: lockText(workspace, included),
  };
};

const runRow = ({ workspace, run, tone }: Entry): string[] =>
  run
    ? [
        `  ${bold(workspace.attributes.name)}`,
        statusOf(run),
        dim(ago(since(run), Date.now())),
        run.id,
        plain((tone === 'bad' && run.attributes['end-reason']) || run.attributes.message).split('\n')[0] ?? '',
      ]
    : [];

const rowWith =
  (text: (entry: Entry) => string) =>
  (entry: Entry): string[] => [`  ${bold(entry.workspace.attributes.name)}`, yellow(text(entry))];

const sections: [title: string, fits: (entry: Entry) => boolean, row: (entry: Entry) => string[]][] = [
  ['Waiting for you', ({ tone, isDecider }) => tone === 'attention' && isDecider, runRow],
  ['Waiting for others', ({ tone, isDecider }) => tone === 'attention' && !isDecider, runRow],
  ['Failed', ({ tone }) => tone === 'bad', runRow],
  ['Drifted or unhealthy', ({ problems }) => problems.length > 0, rowWith(({ problems }) => problems.join(', '))],
  ['Running', ({ tone }) => tone === 'running' || tone === 'waiting', runRow],
  ['Locked', ({ lock }) => lock !== '', rowWith(({ lock }) => lock)],
];

/** @param width of the terminal */
const screenOf = (
  organization: string,
  entries: Entry[],
  policies: string[][],
  width: number | undefined,
): string[] => {
  const shown = [
    ...sections.map(([title, fits, row]) => ({ title, rows: entries.filter(fits).map(row) })),
    { title: 'Policies rejected', rows: policies },
  ].filter(({ rows }) => rows.length > 0);
  const quiet = entries.filter((entry) => !sections.some(([, fits]) => fits(entry))).length;
  const rest =
    shown.length === 0
      ? green(`All well in ${count(entries.length, 'workspace')}.`)
      : dim(quiet > 0 ? `All well in the other ${count(quiet, 'workspace')}.` : '');
  if (entries.length === 0)
    return [`No workspaces in ${organization} yet. Create one: ${program} workspaces create <name>`];
  return [
    `${bold(organization)}  ${dim(timeOfDay(new Date().toISOString()))}`,
    '',
    ...shown.flatMap(({ title, rows }) => [bold(title), ...columns(rows, width), '']),
    ...(rest ? [rest] : []),
  ];
};

const everyMs = 5_000;
const alternateScreen = { enter: '\x1b[?1049h', leave: '\x1b[?1049l' };
const home = '\x1b[H\x1b[J';

/** Shows the screen again and again until Ctrl-C; what was on the terminal before comes back. */
const keepShowing = async (next: (unreachable: (reason: string) => void) => Promise<string[]>): Promise<ExitCode> => {
  const { stdout } = process;
  const interruption = new AbortController();
  const interrupted = () => interruption.abort();
  process.on('SIGINT', interrupted);
  let lines: string[] = [];
  const show = (last: string) => {
    const height = (stdout.rows || 24) - 2;
    const fits = lines.length <= height ? lines : [...lines.slice(0, height - 1), dim('…')];
    stdout.write(`${home}${[...fits, '', dim(last)].map((line) => cut(line, stdout.columns || 80)).join('\n')}`);
  };
  stdout.write(alternateScreen.enter);
  try {
    while (!interruption.signal.aborted) {
      lines = await next((reason) => show(`Can’t reach the server (${reason}); retrying. Ctrl-C ends`));
      show(`Every ${everyMs / 1000} s. Ctrl-C ends`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs);
        interruption.signal.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  } finally {
    stdout.write(alternateScreen.leave);
    process.off('SIGINT', interrupted);
  }
  print(lines.join('\n'));
  return exit.done;
};

export const status: Command = {
  name: 'status',
  about: 'Show what waits for you, what failed and what runs, across workspaces',
  options: { ...ofOrganization, once: { about: 'print it once; default without a terminal' } },
  more: `On a terminal, the screen is refreshed until Ctrl-C. With --json, prints once: the workspaces with their current runs.

  ${program} status
  ${program} status --once --organization acme`,
  run: async (call, session) => {
    const organization = await session.organization();
    if (call.flag('json')) return printJson(await read(session.client, organization));
    const { stdout } = process;
    const screen = async (): Promise<string[]> => {
      const [{ data, included }, policies] = await Promise.all([
        read(session.client, organization),
        rejectedPolicies(session.client, organization),
      ]);
      const named = await withTeamNames(session.client, included);
      const entries = (data as Resource<'workspaces'>[]).map((workspace) => entryOf(workspace, named));
      return screenOf(organization, entries, policies, stdout.isTTY ? stdout.columns : undefined);
    };
    if (!stdout.isTTY || call.flag('once')) return print((await screen()).join('\n'));
    return keepShowing((unreachable) => withRetries(screen, ({ reason }) => unreachable(reason)));
  },
};
