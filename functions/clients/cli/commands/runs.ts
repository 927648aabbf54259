import { type Client, type Resource, related } from '#clients/client/client.ts';
import { everyOperation, factsOf, kindOf, since, sourceOf } from '#clients/client/run-facts.ts';
import { fetchRetry } from '#clients/client/text/fetching.ts';
import { ago, duration } from '#clients/client/text/time.ts';
import { displayStatus } from '#run/display.ts';
import { stagesOf } from '#run/stages.ts';
import { runStatuses } from '#run/status.ts';
import { type Command, ofWorkspace } from '../arguments.ts';
import { type CheckResult, check, costEstimate, evaluation, taskResults } from '../checks.ts';
import { wrongUsage } from '../exit.ts';
import { nearest } from '../nearest-word.ts';
import { adviceOn } from '../outcome.ts';
import { bold, dim, plain } from '../paint.ts';
import { withTeamNames } from '../people.ts';
import { program } from '../program.ts';
import { changesOf, fetchSnapshot, type RunSnapshot, workspaceOf } from '../run-snapshot.ts';
import { ofList, printList } from '../table.ts';
import { columns, print, printJson, say } from '../terminal.ts';
import { changesInWords, checkLines, paintTone, WatchText } from '../watch-text.ts';

export const limitOf = (text = '20'): number => {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit > 0 && limit <= 10_000) return limit;
  throw wrongUsage(`--limit ${text}: give a whole number from 1 to 10000, e.g. --limit 50`);
};

/** Tells the user that the list was cut at --limit. */
export const sayIncomplete = ({ data, more }: { data: unknown[]; more: boolean }, what: string): void => {
  if (more) say(dim(`There are more ${what}. List them with --limit ${Math.min(data.length * 5, 10_000)}`));
};

/** @throws {CommandError} */
const statusFilter = (text: string | undefined): string | undefined => {
  const unknown = text?.split(',').find((word) => !runStatuses.some((status) => status === word.trim()));
  if (unknown === undefined) return text;
  const similar = nearest(unknown.trim(), runStatuses);
  const advice = similar ? `Did you mean ${similar}?` : `Give some of ${runStatuses.join(', ')}`;
  throw wrongUsage(`--status ${unknown}: not a status of runs. ${advice}`);
};

export const statusOf = (run: Resource<'runs'>): string => {
  const { name, tone } = displayStatus(factsOf(run));
  return paintTone(tone, name);
};

/** Undefined in lists of one workspace. */
type Workspaces = Resource<'workspaces'>[] | undefined;

/** The workspace's cell in a list of an organization: empty if unknown, so that the columns stay aligned. */
const workspaceCells = (run: Resource<'runs'>, workspaces: Workspaces): string[] => {
  const workspace = workspaces?.find(({ id }) => id === related(run, 'workspace'));
  return workspaces ? [workspace?.attributes.name ?? ''] : [];
};

const row = (run: Resource<'runs'>, workspaces: Workspaces): string[] => {
  const kind = kindOf(run);
  return [
    run.id,
    statusOf(run),
    dim(ago(since(run), Date.now())),
    ...workspaceCells(run, workspaces).map(bold),
    `${plain(run.attributes.message).split('\n')[0]}${kind ? ` ${dim(`(${kind})`)}` : ''}`,
  ];
};

const values = (run: Resource<'runs'>, workspaces: Workspaces): string[] => {
  const { status, message } = run.attributes;
  return [run.id, status, since(run), ...workspaceCells(run, workspaces), message];
};

const list: Command = {
  name: 'runs list',
  about: 'List the runs of a workspace or organization, newest first',
  options: {
    ...ofWorkspace,
    ...ofList,
    status: { about: 'filter by API status, e.g. errored,planned', value: 'list' },
    limit: { about: 'maximum number (default: 20)', value: 'n', short: 'n' },
  },
  run: async (call, session) => {
    const limit = limitOf(call.text('limit'));
    const wholeOrganization =
      !session.workspaceName || (call.text('organization') !== undefined && !call.text('workspace'));
    const owner = wholeOrganization
      ? `/organizations/${encodeURIComponent(await session.organization())}`
      : `/workspaces/${(await session.workspace()).id}`;
    const status = statusFilter(call.text('status'));
    const filter = `filter[operation]=${everyOperation}${status ? `&filter[status]=${encodeURIComponent(status)}` : ''}`;
    const runs = await session.client.some(
      `${owner}/runs?${filter}${wholeOrganization ? '&include=workspace' : ''}`,
      limit,
    );
    const { data, included, more } = runs;
    const workspaces = wholeOrganization ? included.filter(({ type }) => type === 'workspaces') : undefined;
    printList(call, {
      headings: ['id', 'status', 'since', ...(wholeOrganization ? ['workspace'] : []), 'message'],
      entries: data,
      row: (run) => row(run, workspaces),
      values: (run) => values(run, workspaces),
      json: { data, ...(wholeOrganization ? { included } : {}), meta: { more } },
      none: `No runs found. Start one: ${program} runs start`,
    });
    sayIncomplete(runs, 'runs');
  },
};

const show: Command = {
  name: 'runs show',
  about: 'Show a run: status, stages, changes and available actions',
  takes: '[run]',
  options: ofWorkspace,
  more: 'Default: the current run of the workspace. Give a run by its ID or by its URL.',
  run: async (call, session) => {
    const { client } = session;
    const { id } = await session.run(call.word(0));
    const snapshot = await fetchSnapshot(client, id, { origin: true });
    const { run, plan, apply, stages, commit } = snapshot;
    if (call.flag('json')) {
      const included = [plan, apply, snapshot.costEstimate, commit, ...stages].filter(
        (resource) => resource !== undefined,
      );
      return printJson({ data: run, included });
    }
    print([...summary(run, client.url), dim(await origin(client, snapshot))].join('\n'));
    if (commit) print(commitLine(commit));
    print(
      ['', ...columns(stagesOf(factsOf(run)).map(({ name, state, from, to }) => stageRow(name, state, from, to)))].join(
        '\n',
      ),
    );
    for (const [phase, document] of [
      ['plan', plan],
      ['apply', apply],
    ] as const) {
      const changes = changesOf(document);
      if (changes) print(`${phase === 'plan' ? '\nPlan' : 'Apply'}: ${changesInWords(changes, phase)}`);
    }
    for (const line of checkLines(run)) print(line);
    const results = await resultsOf(client, snapshot);
    if (results.length) print('');
    for (const result of results) new WatchText(client.url, print).emit(result);
    const retry = fetchRetry(run);
    if (retry) print(`\nWaiting ${retry}`);
    if (run.attributes['end-reason']) print(`\n${plain(run.attributes['end-reason'])}`);
    for (const line of await adviceOn(client, snapshot)) print(line);
  },
};

/** `acme/network, queued 5 min ago by ana from the command line` */
const origin = async (client: Client, { run, createdBy }: RunSnapshot): Promise<string> => {
  const [, organization] = /^\/app\/([^/]+)\//.exec(run.links?.['self-html'] ?? '') ?? [];
  const [creator] = await withTeamNames(client, createdBy ? [createdBy] : []);
  const by = creator ? ` by ${creator.attributes.username}` : '';
  const place = `${decodeURIComponent(organization ?? '')}/${await workspaceOf(client, run)}`;
  return plain(`${place}, queued ${ago(run.attributes['created-at'], Date.now())}${by} from ${sourceOf(run)}`);
};

/** Results of run tasks, policies and the cost estimate. */
const resultsOf = async (client: Client, { run, stages, costEstimate: cost }: RunSnapshot): Promise<CheckResult[]> => {
  const results = await Promise.all([
    stages.length ? taskResults(client, run) : [],
    evaluation(client, stages),
    check(client, run),
    costEstimate(cost),
  ]);
  return results.flat().filter((result) => result !== undefined);
};

const commitLine = ({ attributes }: Resource<'ingress-attributes'>): string => {
  const { 'commit-sha': sha, branch, tag, identifier, 'sender-username': sender } = attributes;
  const number = attributes['pull-request-number'];
  const parts = [
    `Commit ${sha.slice(0, 8)}`,
    ...(tag ? [`tag ${tag}`] : branch ? [`on ${branch}`] : []),
    ...(identifier ? [`of ${identifier}`] : []),
    ...(sender ? [`by ${sender}`] : []),
    ...(number ? [`(#${number} ${attributes['pull-request-title'] ?? ''})`] : []),
  ];
  return dim(plain(parts.join(' ')));
};

const stageRow = (name: string, state: string, from: string | undefined, to: string | undefined): string[] => {
  const took = from ? duration((to ? Date.parse(to) : Date.now()) - Date.parse(from)) : '';
  const words: Record<string, string> = { current: 'in progress', ahead: 'not started', skipped: 'not reached' };
  return [`  ${name}`, took, words[state] ?? (state === 'done' ? '' : state)];
};

export const summary = (run: Resource<'runs'>, url: string): string[] => {
  const kind = kindOf(run);
  const facts = kind ? ` (${kind})` : '';
  return [
    `${bold(plain(run.attributes.message))}${facts}  ${statusOf(run)}  ${dim(run.id)}`,
    dim(`${url}${run.links?.['self-html'] ?? ''}`),
  ];
};

export const runCommands: Command[] = [list, show];
