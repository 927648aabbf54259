import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ApiError, type Client, type Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { genericHost } from '#platform/net/generic-host.ts';
import { isLoopback } from '#platform/net/transport/plain-http.ts';
import { findToken } from '../address.ts';
import { type Command, ofWorkspace, parse } from '../arguments.ts';
import { findBackend, hasConfiguration, readCloudBlock } from '../cloud-block.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { plain } from '../paint.ts';
import { program } from '../program.ts';
import type { Session } from '../session.ts';
import { ask, isAttended, printJson, say } from '../terminal.ts';
import { hostFile, hostUrl, writeHostFile } from '../terraform-host.ts';
import { findEngine, initialize } from '../terraform-init.ts';
import { start } from './start.ts';

/** A folder with Terraform files becomes a workspace: cloud block, state, first run. */

const blockFile = 'cloud.tf';

interface State {
  version: number;
  resources: { module?: string; mode: string; type: string; name: string; instances: Instance[] }[];
}

interface Instance {
  index_key?: unknown;
  attributes?: unknown;
}

/** All instances in a state, by address. */
const instancesIn = ({ resources }: State): Map<string, unknown> =>
  new Map(
    resources.flatMap(({ module = '', mode, type, name, instances }) =>
      instances.map(({ index_key: key, attributes }) => [
        JSON.stringify([module, mode, type, name, key ?? null]),
        attributes,
      ]),
    ),
  );

/** The state of the local backend; undefined without one. @throws {CommandError} for what cannot be moved safely */
const localState = (folder: string): State | undefined => {
  const several = join(folder, 'terraform.tfstate.d');
  const others = existsSync(several) ? readdirSync(several) : [];
  if (others.length > 0)
    throw new CommandError(
      `This folder has states of several Terraform workspaces (${others.join(', ')}), and ${program} init moves one. Write the cloud block with tags instead of a name, and run terraform init: it moves all of them.`,
    );
  const file = join(folder, 'terraform.tfstate');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (text === '') return undefined;
  try {
    const state = JSON.parse(text) as State;
    if (state.version === 4 && Array.isArray(state.resources)) return state;
  } catch {
    // Reported below.
  }
  throw new CommandError(
    `${file} is not a state in Terraform's format 4. An encrypted or older state is moved by terraform init alone: write the cloud block, and run it.`,
  );
};

/** What the folder is connected to, as recorded by `terraform init`. */
const recordedBackend = (folder: string): string | undefined => {
  const file = join(folder, '.terraform', 'terraform.tfstate');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { backend?: { type?: string } }).backend?.type;
};

/** @throws {CommandError} for a backend block, which cannot stand beside a cloud block, and for another workspace's */
const checkBackend = (folder: string, workspace: string | undefined): void => {
  const block = findBackend(folder);
  if (!block) return;
  if (block.type === 'cloud') {
    const named = readCloudBlock(folder, {}).workspace;
    if (named && (workspace ?? named) === named) return;
    throw wrongUsage(
      `${block.file}, line ${block.line}: the cloud block names ${named ? `workspace ${named}` : 'no workspace'}. Correct it, or run terraform init yourself.`,
    );
  }
  const place = `${block.file}, line ${block.line}: backend "${block.type}"`;
  if (block.type === 'remote')
    throw wrongUsage(`${place} leads to a workspace already. To move it: ${program} import --help`);
  throw wrongUsage(
    recordedBackend(folder) === block.type || block.type === 'local'
      ? `${place} cannot stand beside a cloud block. Remove that block, keep the .terraform folder, and repeat: Terraform moves the state from the backend that it recorded there.`
      : `${place} has not been initialized in this folder, so its state would be left behind. Run terraform init, remove that block, and repeat.`,
  );
};

const nameOf = (folder: string): string =>
  basename(resolve(folder))
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .slice(0, 90);

interface Target {
  host: string;
  organization: string;
  workspace: string;
}

const cloudBlock = ({ host, organization, workspace }: Target): string => `terraform {
  cloud {
    hostname     = "${host}"
    organization = "${organization}"
    workspaces {
      name = "${workspace}"
    }
  }
}
`;

const pathOf = ({ organization, workspace }: Target): string =>
  `/organizations/${encodeURIComponent(organization)}/workspaces/${encodeURIComponent(workspace)}`;

const find = async (client: Client, path: string): Promise<Resource | undefined> => {
  try {
    return await client.get(path);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
};

const stateIn = async (client: Client, { id }: Resource): Promise<State | undefined> => {
  const version = await find(client, `/workspaces/${id}/current-state-version`);
  return version && ((await (await client.content(`/state-versions/${version.id}/download`)).json()) as State);
};

/** @throws {CommandError} if the workspace's state is not the folder's */
const checkMoved = (before: State | undefined, now: State | undefined, folder: string): void => {
  if (!before) return;
  // Terraform gives the state a new lineage.
  if (now && isDeepStrictEqual(instancesIn(now), instancesIn(before))) return;
  throw new CommandError(
    `The workspace's state differs from the folder's former one, which Terraform kept in ${join(folder, 'terraform.tfstate.backup')}. Compare them: ${program} state pull`,
  );
};

/** Of this command, whose call supplies the session's workspace. */
const targetOf = async (session: Session, folder: string): Promise<Target> => {
  const { address } = session;
  const isHere = isLoopback(new URL(address.url));
  return {
    host: isHere ? genericHost : address.host,
    organization: await session.organization(),
    workspace: session.workspaceName ?? nameOf(folder),
  };
};

const agree = async (steps: string[], yes: boolean): Promise<void> => {
  if (yes) return;
  if (!isAttended()) throw wrongUsage(`This would:\n${steps.join('\n')}\nGive --yes to do it.`);
  const answer = await ask(`${steps.join('\n')}\n\nType "yes" to do this\n> `);
  if (answer !== 'yes') throw new CommandError('Nothing was changed.', exit.interrupted);
};

export const init: Command = {
  name: 'init',
  about: 'Make a folder with Terraform files a workspace: cloud block, state and first run',
  takes: '[folder]',
  options: { ...ofWorkspace, yes: { about: 'do not ask', short: 'y' } },
  more: `Writes ${blockFile}, lets terraform init create the workspace and move the folder's state to it, compares both states, and starts a
run, which waits for your confirmation. The workspace has the name of the folder, unless you give --workspace. After a failure, repeat it.

  ${program} init
  ${program} init ./network --workspace network-production --yes`,
  run: async (call, outer) => {
    const folder = call.word(0) ?? '.';
    if (!hasConfiguration(folder)) throw wrongUsage(`No Terraform files (*.tf, *.tf.json) in ${resolve(folder)}.`);
    checkBackend(folder, call.text('workspace'));
    const before = localState(folder);
    const engine = await findEngine(folder);
    const session = outer.in(folder);
    const { client } = session;
    const target = await targetOf(session, folder);
    const existing = await find(client, pathOf(target));
    const isWritten = readCloudBlock(folder, {}).workspace !== undefined;
    if (!isWritten && existsSync(join(folder, blockFile)))
      throw wrongUsage(`${blockFile} exists and has no cloud block. Rename it, and repeat.`);
    const recorded = recordedBackend(folder);
    const otherBackend = recorded === 'cloud' || recorded === 'local' ? undefined : recorded;
    if ((before || otherBackend) && existing && (await stateIn(client, existing)))
      throw new CommandError(
        `Workspace ${target.organization}/${target.workspace} has a state, and so has this folder. Choose a new workspace: --workspace <name>`,
        exit.notNow,
      );

    const { token } = findToken(session.address, session.local);
    const { url } = session.address;
    const namesHost = target.host === genericHost && hostUrl() !== url && !process.env.TF_CLI_CONFIG_FILE;
    const steps = [
      ...(namesHost ? [`  write ${hostFile()}, so that Terraform finds ${url} as ${genericHost}`] : []),
      ...(isWritten
        ? []
        : [`  write ${join(folder, blockFile)} for workspace ${target.organization}/${target.workspace}`]),
      `  run ${engine} init${existing ? '' : ', which creates the workspace'}`,
      ...(before ? [`  move the state of ${count(instancesIn(before).size, 'resource')} to the workspace`] : []),
      ...(otherBackend ? [`  move the state from backend "${otherBackend}" to the workspace`] : []),
      '  start a run, which you confirm',
    ];
    await agree(steps, call.flag('yes'));

    if (namesHost) writeHostFile(url, token);
    const file = join(folder, blockFile);
    if (!isWritten) writeFileSync(file, cloudBlock(target), { flag: 'wx' });
    if (!(await initialize(engine, folder, target.host, token))) {
      // Terraform may have moved the state before it failed, e.g. to install a provider.
      const isConnected = recordedBackend(folder) === 'cloud';
      if (!isWritten && !isConnected) rmSync(file);
      throw new CommandError(
        `${engine} init failed. ${isConnected ? 'The folder belongs to the workspace already.' : 'The state is where it was.'} Correct the cause above, and repeat: ${program} init`,
      );
    }
    const workspace = await client.get(pathOf(target));
    checkMoved(before, await stateIn(client, workspace), folder);
    if (before) say(`State moved. Terraform kept a copy: ${join(folder, 'terraform.tfstate.backup')}`);
    const repository = workspace.attributes['vcs-repo-identifier'];
    if (repository) {
      say(`The workspace follows ${plain(repository)}: commit ${blockFile}, and the push starts the first run.`);
      return call.flag('json') ? printJson({ data: workspace }) : undefined;
    }
    const json = call.flag('json') ? ['--json'] : [];
    return start.run(parse(start, [folder, '--watch', '--message', 'First run', ...json]), outer);
  },
};
