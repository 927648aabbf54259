import { existsSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import type { Client, Resource } from '#clients/client/client.ts';
import { bytes } from '#clients/client/text/time.ts';
import { packFolder } from '../archive.ts';
import { type Call, type Command, ofWatch, ofWorkspace, timeoutOf } from '../arguments.ts';
import { hasConfiguration } from '../cloud-block.ts';
import { commitOf } from '../commit.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { followRun } from '../follow-run.ts';
import { program } from '../program.ts';
import { print, printJson, say } from '../terminal.ts';
import { fileVariables, lastOfEach, runVariables } from '../variables.ts';
import { summary } from './runs.ts';
import { watchAll } from './watch-all.ts';

/** The folder to upload. Given the workspace's working directory, this is the root of the configuration, as in Terraform. */
const rootOf = (folder: string, workingDirectory: string | null): string => {
  const inner = resolve('/', workingDirectory ?? '').slice(1);
  const packedFolder = resolve(folder);
  if (!inner || !packedFolder.endsWith(`${sep}${inner}`)) return packedFolder;
  return inner.split('/').reduce((path) => dirname(path), packedFolder);
};

const upload = async (
  client: Client,
  workspace: Resource<'workspaces'>,
  folder: string,
  speculative: boolean,
  quiet: boolean,
) => {
  const root = rootOf(folder, workspace.attributes['working-directory']);
  const archive = await packFolder(root);
  if (!quiet) say(`Uploading ${relative(process.cwd(), root) || 'this folder'} (${bytes(archive.length)} packed)`);
  const version = await client.upload(workspace.id, archive, {
    speculative,
    'ingress-attributes': await commitOf(root),
  });
  const { status, 'error-message': message } = version.attributes;
  if (status !== 'uploaded') {
    throw new CommandError(
      message ?? `The configuration was not processed in time (status: ${status}). Try again.`,
      exit.failed,
    );
  }
  return version;
};

/** @throws {CommandError} for options that exclude each other */
const settingsOf = (call: Call, folder: string): Record<string, unknown> => {
  if (call.flag('destroy') && call.flag('refresh-only'))
    throw wrongUsage('--destroy and --refresh-only cannot be combined. Give one of them.');
  if (call.flag('plan-only') && call.flag('auto-apply')) {
    throw wrongUsage('--plan-only and --auto-apply cannot be combined. Give one of them.');
  }
  const textsOrNone = (name: string) => (call.texts(name).length ? call.texts(name) : undefined);
  const on = (name: string) => (call.flag(name) ? true : undefined);
  const variables = lastOfEach([...fileVariables(call.texts('var-file')), ...runVariables(call.texts('var'), folder)]);
  return {
    message: call.text('message') ?? 'Started from the command line',
    'plan-only': on('plan-only'),
    'is-destroy': on('destroy'),
    'refresh-only': on('refresh-only'),
    'allow-empty-apply': on('allow-empty-apply'),
    'auto-apply': on('auto-apply'),
    refresh: call.flag('no-refresh') ? false : undefined,
    'target-addrs': textsOrNone('target'),
    'replace-addrs': textsOrNone('replace'),
    variables: variables.length ? variables : undefined,
  };
};

export const start: Command = {
  name: 'runs start',
  about: 'Upload a folder with Terraform files and start a run',
  takes: '[folder]',
  options: {
    message: { about: 'message of the run', value: 'text', short: 'm' },
    watch: { about: 'watch the run until it finishes or needs a decision' },
    wait: { about: 'with --watch: keep watching while the run, or the run ahead, needs a decision' },
    timeout: { ...ofWatch.timeout, about: `with --watch: ${ofWatch.timeout.about}` },
    'plan-only': { about: 'show changes, never apply them' },
    destroy: { about: 'plan to destroy every resource of the workspace' },
    'refresh-only': { about: 'update the state only, change no resources' },
    'allow-empty-apply': { about: 'apply a plan without changes' },
    'auto-apply': { about: 'apply without confirmation' },
    'no-refresh': { about: 'plan without refreshing the state' },
    target: { about: 'target this resource; repeatable', value: 'address', multiple: true },
    replace: { about: 'replace this resource; repeatable', value: 'address', multiple: true },
    var: { about: 'variable for this run; repeatable', value: 'name=value', multiple: true },
    'var-file': {
      about: 'file with variables for this run (.tfvars, .json); --var takes precedence',
      value: 'file',
      multiple: true,
    },
    latest: { about: 'use the latest configuration of the workspace, upload nothing' },
    ...ofWorkspace,
  },
  more: `Default folder: the current one. Its cloud block selects the workspace. Files in .terraformignore and local
states are not uploaded. In a git checkout without changes, the run records the commit. With --watch, the exit code is the result (${program} help exit-codes).

  ${program} runs start --watch -m "More memory"
  ${program} runs start ./network --workspace network --plan-only --var size=3 --watch
  ${program} runs start --latest --destroy`,
  run: async (call, session) => {
    const folder = call.word(0) ?? '.';
    const latest = call.flag('latest');
    if (latest && call.word(0)) throw wrongUsage('--latest cannot be combined with a folder. Remove one of them.');
    if (!latest && !existsSync(folder)) throw wrongUsage(`Folder not found: ${resolve(folder)}`);
    if (!latest && !hasConfiguration(folder)) {
      throw wrongUsage(
        `No Terraform files (*.tf, *.tf.json) in ${resolve(folder)}. Give the folder: ${program} runs start <folder>; or use the latest configuration of the workspace: --latest`,
      );
    }
    const settings = settingsOf(call, folder);
    const timeoutMs = timeoutOf(call);
    if (timeoutMs !== undefined && !call.flag('watch')) throw wrongUsage('--timeout needs --watch. Add it.');
    const inFolder = session.in(folder);
    const workspace = await inFolder.workspace();
    const { client } = inFolder;
    const json = call.flag('json');
    const version = latest ? undefined : await upload(client, workspace, folder, call.flag('plan-only'), json);
    const run = await client.createRun(workspace.id, settings, version?.id);
    if (call.flag('watch'))
      return followRun(client, run.id, { json, wait: call.flag('wait'), timeoutMs, started: true });
    if (json) return printJson({ data: run });
    print([...summary(run, client.url), '', `Watch it:  ${program} runs watch ${run.id}`].join('\n'));
  },
};

export const watch: Command = {
  name: 'runs watch',
  about: 'Watch runs: Terraform output, stages, run tasks, policies and costs',
  takes: '[run] …',
  options: {
    wait: { about: 'keep watching while the run, or the run ahead, needs a decision' },
    ...ofWatch,
    ...ofWorkspace,
  },
  more: `Default: the current run of the workspace. With several runs, prints status changes and the result of each stage, and exits with
the code of the first run that fails. The exit code is the result (${program} help exit-codes). Ctrl-C stops watching;
the run continues. With --json, prints one object per line, each with "event":

  run            id, message, run (the API document)
  status         status, name (display name), at
  waits          reason, while the run is pending
  log            phase (plan or apply), line (of Terraform’s output)
  stage          stage, state (done, failed, stopped), seconds, changes
  task-result    stage, task, enforcement-level, status, message, url
  policies       kind, status, errors, policies (name, enforcement-level, status, messages)
  cost-estimate  status, prior-, proposed-, delta-monthly-cost, matched- and unmatched-resources-count,
                 error-message
  unreachable    reason; retries continue
  end            status, name, exit-code, run`,
  run: async (call, session) => {
    const others = call.words.slice(1);
    if (others.length > 0) return watchAll(call, session);
    const { id } = await session.run(call.word(0));
    const options = { json: call.flag('json'), wait: call.flag('wait'), timeoutMs: timeoutOf(call), started: false };
    return followRun(session.client, id, options);
  },
};
