import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ApiError, type Client, type Resource, related, until } from '#clients/client/client.ts';
import { ago, bytes } from '#clients/client/text/time.ts';
import { maxStateBytes } from '#run/limits.ts';
import { type Command, ofWorkspace } from '../arguments.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { bold, dim, green, plain } from '../paint.ts';
import { program } from '../program.ts';
import type { Session } from '../session.ts';
import { linesOf, ofList, printList } from '../table.ts';
import { print, printJson, readInput } from '../terminal.ts';
import { lockWorkspace } from '../workspace-lock.ts';
import { limitOf, sayIncomplete } from './runs.ts';

/** States of a workspace. Commands that change the state lock the workspace meanwhile, as Terraform does. */

const locked = async <T>(
  client: Client,
  { id }: Resource<'workspaces'>,
  reason: string,
  work: () => Promise<T>,
): Promise<T> => {
  await lockWorkspace(client, id, reason);
  try {
    return await work();
  } finally {
    await client.call('POST', `/workspaces/${id}/actions/unlock`, {});
  }
};

const versions = async (session: Session, workspace: Resource<'workspaces'>, limit: number) => {
  const organization = encodeURIComponent(await session.organization());
  const name = encodeURIComponent(workspace.attributes.name);
  const filter = `filter[organization][name]=${organization}&filter[workspace][name]=${name}`;
  return session.client.some(`/state-versions?${filter}`, limit);
};

/** Finds a version by its id or serial number. */
const versionOf = async (session: Session, workspace: Resource<'workspaces'>, named: string): Promise<Resource> => {
  if (named.startsWith('sv-')) return session.client.get(`/state-versions/${named}`);
  const version = (await versions(session, workspace, 10_000)).data.find(
    ({ attributes }) => String(attributes.serial) === named,
  );
  if (version) return version;
  throw new CommandError(
    `State with serial ${named} not found in ${workspace.attributes.name}. List states: ${program} state list --workspace ${workspace.attributes.name}`,
    exit.notFound,
  );
};

const erroredState = async (session: Session, run: string): Promise<string> => {
  const apply = related(await session.run(run), 'apply');
  try {
    return await (await session.client.content(`/applies/${apply}/errored-state`)).text();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    throw new CommandError(
      `The apply of ${run} has no errored state: its state was saved in the workspace.`,
      exit.notFound,
    );
  }
};

/** Downloads the state and verifies its checksum, which HCP Terraform does not tell. */
const readVersion = async (session: Session, { id, attributes }: Resource<'state-versions'>): Promise<Buffer> => {
  const state = Buffer.from(await (await session.client.content(`/state-versions/${id}/download`)).arrayBuffer());
  const sha256 = createHash('sha256').update(state).digest('hex');
  if (!attributes.sha256 || attributes.sha256 === sha256) return state;
  throw new CommandError(`State version ${id} arrived with SHA-256 ${sha256}, not the recorded ${attributes.sha256}.`);
};

const pull: Command = {
  name: 'state pull',
  about: 'Print a state (default: the current one)',
  takes: '[version]',
  options: {
    ...ofWorkspace,
    errored: { about: 'print the errored state of this run instead', value: 'run' },
  },
  more: 'Give a version by its ID (sv-…) or serial number. Prints the state itself, with or without --json.',
  run: async (call, session) => {
    const errored = call.text('errored');
    if (errored) return print(await erroredState(session, errored));
    const named = call.word(0);
    const workspace = await session.workspace();
    const version = named
      ? await versionOf(session, workspace, named)
      : await session.client.get(`/workspaces/${workspace.id}/current-state-version`);
    process.stdout.write(await readVersion(session, version));
  },
};

interface State {
  version?: unknown;
  serial?: unknown;
  lineage?: unknown;
}

const parsed = (content: Buffer, name: string): State | null => {
  try {
    return JSON.parse(content.toString('utf8')) as State | null;
  } catch (error) {
    throw wrongUsage(`${name} is not JSON: ${(error as Error).message}`);
  }
};

const readState = (content: Buffer, name: string): { serial: number; lineage: string } => {
  if (content.length > maxStateBytes)
    throw wrongUsage(`${name} has ${bytes(content.length)}; a state has at most ${bytes(maxStateBytes)}`);
  const { serial, lineage } = parsed(content, name) ?? {};
  if (typeof serial === 'number' && typeof lineage === 'string') return { serial, lineage };
  throw wrongUsage(`${name} is not a Terraform state: serial and lineage are missing`);
};

/** Uploads straight to storage, because requests have a size limit; then waits for the platform's check. */
const bring = async (
  client: Client,
  workspace: Resource<'workspaces'>,
  content: Buffer,
  force: boolean,
  name: string,
): Promise<Resource> => {
  const { serial, lineage } = readState(content, name);
  const md5 = createHash('md5').update(content).digest('hex');
  const version = await client.create(`/workspaces/${workspace.id}/state-versions`, 'state-versions', {
    serial,
    lineage,
    md5,
    force: force || undefined,
  });
  const url = version.attributes['hosted-state-upload-url'];
  // The same content was uploaded before.
  if (!url) return version;
  const upload = await fetch(url, {
    method: 'PUT',
    body: new Uint8Array(content),
  });
  if (!upload.ok) throw new CommandError(`State upload failed with status ${upload.status}. Try again.`);
  return until(
    () => client.get(`/state-versions/${version.id}`),
    ({ attributes }) => attributes.status !== 'pending',
    30_000,
  );
};

const push: Command = {
  name: 'state push',
  about: 'Upload a file as the current state',
  takes: '<file>',
  options: { ...ofWorkspace, force: { about: 'overwrite a state with a newer serial or another lineage' } },
  more: 'Use - for standard input. The serial must be higher than that of the current state.',
  run: async (call, session) => {
    const name = call.required(0);
    const content = name === '-' ? await readInput() : await readFile(name);
    readState(content, name);
    const workspace = await session.workspace();
    const { client } = session;
    const data = await locked(client, workspace, 'stepform state push', () =>
      bring(client, workspace, content, call.flag('force'), name),
    );
    if (data.attributes.status !== 'finalized') {
      throw new CommandError(
        `The state was rejected: ${data.attributes['error-message'] ?? data.attributes.status}`,
        exit.notNow,
      );
    }
    if (call.flag('json')) return printJson({ data });
    print(`Pushed serial ${data.attributes.serial} to ${workspace.attributes.name} (${data.id}).`);
  },
};

const list: Command = {
  name: 'state list',
  about: 'List the state versions of a workspace, newest first',
  options: {
    ...ofWorkspace,
    ...ofList,
    limit: { about: 'maximum number (default: 20)', value: 'n', short: 'n' },
  },
  run: async (call, session) => {
    const workspace = await session.workspace();
    const listed = await versions(session, workspace, limitOf(call.text('limit')));
    const { data, more } = listed;
    const current = related(workspace, 'current-state-version');
    const row = (version: Resource): string[] => {
      const { serial, size, status, intermediate, 'created-at': at } = version.attributes;
      const rolledBack = related(version, 'rollback-state-version') !== undefined;
      const notes = [
        version.id === current ? green('current') : '',
        intermediate ? 'intermediate snapshot' : '',
        status === 'finalized' ? '' : status,
        rolledBack ? 'rolled back' : '',
      ];
      return [
        bold(`serial ${serial}`),
        version.id,
        dim(ago(at, Date.now())),
        size === null ? '' : bytes(size),
        related(version, 'run') ?? (rolledBack ? '' : 'pushed'),
        notes.filter(Boolean).join(', '),
      ];
    };
    printList(call, {
      headings: ['serial', 'id', 'created', 'size', 'run', 'notes'],
      entries: data,
      row,
      values: (version) => {
        const [, , , , run = '', notes = ''] = row(version);
        const { serial, size, 'created-at': at } = version.attributes;
        return [String(serial), version.id, at, String(size ?? ''), run, notes];
      },
      json: { data, meta: { more } },
      none: `No states yet. The first apply creates one. Push an existing state: ${program} state push <file>`,
    });
    sayIncomplete(listed, 'state versions');
  },
};

const rollback: Command = {
  name: 'state rollback',
  about: 'Roll back to an older state, as a new version',
  takes: '<version>',
  options: ofWorkspace,
  more: `Give a version by its ID (sv-…) or serial number: ${program} state list. Real infrastructure stays as it is; the next plan shows the differences.`,
  run: async (call, session) => {
    const { client } = session;
    const workspace = await session.workspace();
    const { id } = await versionOf(session, workspace, call.required(0));
    const body = {
      data: {
        type: 'state-versions',
        relationships: { 'rollback-state-version': { data: { type: 'state-versions', id } } },
      },
    };
    const { data } = await locked(client, workspace, 'stepform state rollback', () =>
      client.call('PATCH', `/workspaces/${workspace.id}/state-versions`, body),
    );
    if (call.flag('json')) return printJson({ data });
    print(
      `Rolled ${workspace.attributes.name} back to ${id}, as serial ${data.attributes.serial}. To see the differences to real infrastructure: ${program} runs start --latest --plan-only --watch --workspace ${workspace.attributes.name}`,
    );
  },
};

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

const outputs: Command = {
  name: 'state outputs',
  about: 'Show the outputs of the current state, or one output by name',
  takes: '[name]',
  options: ofWorkspace,
  more: 'Sensitive outputs, and texts of several lines, are shown only by name or with --json.',
  run: async (call, session) => {
    const { client } = session;
    const workspace = await session.workspace();
    const { data } = await client.some(`/workspaces/${workspace.id}/current-state-version-outputs`, 10_000);
    const name = call.word(0);
    if (name) {
      const match = data.find(({ attributes }) => attributes.name === name);
      if (!match) {
        const names = data.map(({ attributes }) => attributes.name).join(', ');
        throw new CommandError(`Output ${name} not found. Outputs: ${names || 'none'}`, exit.notFound);
      }
      const output = await client.get(`/state-version-outputs/${match.id}`);
      return call.flag('json') ? printJson({ data: output }) : print(text(output.attributes.value));
    }
    if (call.flag('json')) return printJson({ data });
    if (data.length === 0) return print('No outputs.');
    const shownValue = ({
      sensitive,
      value,
      'omitted-bytes': omitted,
    }: Resource<'state-version-outputs'>['attributes']) => {
      if (sensitive) return dim('(sensitive)');
      if (omitted !== undefined) return dim(`(${bytes(omitted)}, shown by name)`);
      return (typeof value === 'string' && linesOf(value)) || plain(JSON.stringify(value));
    };
    const line = ({ attributes }: Resource<'state-version-outputs'>) =>
      `${bold(plain(attributes.name))} = ${shownValue(attributes)}`;
    print(data.map(line).join('\n'));
  },
};

export const stateCommands: Command[] = [pull, push, list, rollback, outputs];
