import { dirname, relative, resolve, sep } from 'node:path';
import type { Client, Resource } from '../../client/client.ts';
import { bytes } from '../../client/text/time.ts';
import { packFolder } from '../archive.ts';
import { type Call, type Command, ofWorkspace } from '../arguments.ts';
import { hasConfiguration } from '../cloud-block.ts';
import { commitOf } from '../commit.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { attend } from '../follow-run.ts';
import { program } from '../program.ts';
import { print, printJson, say } from '../terminal.ts';
import { fileVariables, lastOfEach, runVariables } from '../variables.ts';
import { summary } from './runs.ts';

/** The workspace says in which directory of the configuration Terraform runs: then the whole is uploaded, as by Terraform. */
const rootOf = (folder: string, workingDirectory: string | null): string => {
  const inner = resolve('/', workingDirectory ?? '').slice(1);
  const here = resolve(folder);
  if (!inner || !here.endsWith(`${sep}${inner}`)) return here;
  return inner.split('/').reduce((path) => dirname(path), here);
};

const upload = async (client: Client, workspace: Resource, folder: string, speculative: boolean, quiet: boolean) => {
  const root = rootOf(folder, workspace.attributes['working-directory']);
  const archive = await packFolder(root);
  if (!quiet) say(`Uploading ${relative(process.cwd(), root) || 'this folder'} (${bytes(archive.length)} packed)`);
  const version = await client.upload(workspace.id, archive, {
    speculative,
    'ingress-attributes': await commitOf(root),
  });
  const { status, 'error-message': why } = version.attributes;
  if (status !== 'uploaded') {
    throw new CommandError(why ?? `The configuration was not taken: it is ${status}. Try again.`, exit.failed);
  }
  return version;
};

/** @throws {CommandError} for what cannot be meant together */
const settingsOf = (call: Call, folder: string): Record<string, unknown> => {
  if (call.flag('destroy') && call.flag('refresh-only'))
    throw wrongUsage('Give --destroy or --refresh-only, not both.');
  if (call.flag('plan-only') && call.flag('auto-apply')) {
    throw wrongUsage('--plan-only never applies: leave out --auto-apply.');
  }
  const some = (name: string) => (call.texts(name).length ? call.texts(name) : undefined);
  const on = (name: string) => (call.flag(name) ? true : undefined);
  const variables = lastOfEach([...fileVariables(call.texts('var-file')), ...runVariables(call.texts('var'), folder)]);
  return {
    message: call.text('message') ?? 'Started by stepform',
    'plan-only': on('plan-only'),
    'is-destroy': on('destroy'),
    'refresh-only': on('refresh-only'),
    'allow-empty-apply': on('allow-empty-apply'),
    'auto-apply': on('auto-apply'),
    refresh: call.flag('no-refresh') ? false : undefined,
    'target-addrs': some('target'),
    'replace-addrs': some('replace'),
    variables: variables.length ? variables : undefined,
  };
};

export const start: Command = {
  name: 'runs start',
  about: 'Upload a folder with Terraform files, and start a run with it',
  takes: '[folder]',
  options: {
    message: { about: 'why this run', value: 'text', short: 'm' },
    watch: { about: 'follow it here until it is over, or waits for a person' },
    wait: { about: 'with --watch: go on while it waits for a person' },
    'plan-only': { about: 'show what would change, never apply' },
    destroy: { about: 'plan the end of everything in the workspace' },
    'refresh-only': { about: 'bring the state up to date, change nothing else' },
    'allow-empty-apply': { about: 'apply even without changes' },
    'auto-apply': { about: 'apply without asking' },
    'no-refresh': { about: 'plan from the state as it is' },
    target: { about: 'only this resource; may be repeated', value: 'address', multiple: true },
    replace: { about: 'replace this resource; may be repeated', value: 'address', multiple: true },
    var: { about: 'a variable of this run; may be repeated', value: 'name=value', multiple: true },
    'var-file': {
      about: 'variables of this run from a file (.tfvars, .json); --var beats it',
      value: 'file',
      multiple: true,
    },
    latest: { about: 'upload nothing, take the workspace’s latest configuration' },
    ...ofWorkspace,
  },
  more: `The folder is the one you are in, unless said; its cloud block, if it has one, says which workspace. What .terraformignore
names stays here; a checkout of git without changes says which commit it is. With --watch it ends as the run does (${program} help exit-codes).

  ${program} runs start --watch -m "More memory"
  ${program} runs start ./network --workspace network --plan-only --var size=3 --watch
  ${program} runs start --latest --destroy`,
  run: async (call, session) => {
    const folder = call.word(0) ?? '.';
    const latest = call.flag('latest');
    if (latest && call.word(0)) throw wrongUsage('--latest uploads nothing: leave out the folder.');
    if (!latest && !hasConfiguration(folder)) {
      throw wrongUsage(
        `There is no Terraform file (*.tf, *.tf.json) in ${resolve(folder)}. Name the folder: ${program} runs start <folder>; or take the workspace’s latest configuration: --latest`,
      );
    }
    const settings = settingsOf(call, folder);
    const here = session.in(folder);
    const workspace = await here.workspace();
    const { client } = here;
    const json = call.flag('json');
    const version = latest ? undefined : await upload(client, workspace, folder, call.flag('plan-only'), json);
    const run = await client.createRun(workspace.id, settings, version?.id);
    if (call.flag('watch')) return attend(client, run.id, { json, wait: call.flag('wait'), started: true });
    if (json) return printJson({ data: run });
    print([...summary(run, client.url), '', `Watch it:  ${program} runs watch ${run.id}`].join('\n'));
  },
};

export const watch: Command = {
  name: 'runs watch',
  about: 'Follow a run live: Terraform’s output, each stage, what others say of it',
  takes: '[run]',
  options: {
    wait: { about: 'go on while it waits for a person' },
    ...ofWorkspace,
  },
  more: `Without a run, the workspace’s current one. It ends as the run does (${program} help exit-codes); Ctrl-C leaves, and the run
goes on. With --json there is one object a line, each with "event":

  run            what is watched: id, message, run (the API’s document)
  status         status, name (in words), at
  waits          reason: for what or whom, while it is pending
  log            phase (plan or apply), line (as Terraform wrote it)
  stage          stage, state (done, failed, stopped), seconds, changes
  task-result    stage, task, enforcement-level, status, message, url
  policies       kind, status, errors, policies (name, enforcement-level, status, messages)
  cost-estimate  status, prior-, proposed-, delta-monthly-cost, error-message
  unreachable    reason; asking goes on
  end            status, name, exit-code, run`,
  run: async (call, session) => {
    const { id } = await session.run(call.word(0));
    return attend(session.client, id, { json: call.flag('json'), wait: call.flag('wait'), started: false });
  },
};
