import { createHash } from 'node:crypto';
import { type Resource, related, until } from '#clients/client/client.ts';
import { maxStateBytes } from '#run/limits.ts';
import { isFinal, type RunStatus } from '#run/status.ts';
import { CommandError } from '../exit.ts';
import { lockWorkspace } from '../workspace-lock.ts';
import { type Import, nameOf } from './context.ts';
import { part } from './source.ts';
import { isPlaceholder } from './target.ts';

/** Copies the current states of workspaces byte for byte, with lineage and serial. */

/** Larger states are uploaded straight to storage. */
const maxInlineBytes = 2 * 1024 * 1024;

interface State {
  serial: number;
  lineage: string;
  content: Buffer;
  md5: string;
}

const md5Of = (content: Buffer): string => createHash('md5').update(content).digest('hex');

const finals: readonly string[] = ['planned_and_saved'];
const isOver = (status: string): boolean => {
  try {
    return finals.includes(status) || isFinal(status as RunStatus);
  } catch {
    return false;
  }
};

/** An unfinished run, which may still change the state; undefined without one. */
const activeRun = async ({ source }: Import, workspace: Resource): Promise<string | undefined> => {
  const run = related(workspace, 'current-run');
  if (!run) return undefined;
  const { attributes } = await source.get(`/runs/${part(run)}`);
  const status = String(attributes.status);
  return isOver(status) ? undefined : `run ${run} is ${status}`;
};

/** @throws {CommandError} for a state other than the listed version */
const download = async ({ source }: Import, version: Resource): Promise<State> => {
  const link = version.attributes['hosted-state-download-url'];
  if (typeof link !== 'string' || link === '') throw new CommandError('the source has no download link for its state');
  const content = await source.bytes(link, maxStateBytes);
  const { serial, lineage } = parse(content);
  const md5 = md5Of(content);
  const { attributes } = version;
  if (serial !== attributes.serial)
    throw new CommandError(`the downloaded state has serial ${serial} instead of ${attributes.serial}`);
  return { serial, lineage, content, md5 };
};

const parse = (content: Buffer): { serial: number; lineage: string } => {
  try {
    const { serial, lineage } = JSON.parse(content.toString('utf8')) as Partial<State>;
    if (Number.isSafeInteger(serial) && typeof lineage === 'string') return { serial: serial as number, lineage };
  } catch {
    // Reported below.
  }
  throw new CommandError('not a Terraform state: serial and lineage are missing');
};

const currentOf = async (get: (path: string) => Promise<Resource>, workspaceId: string) =>
  get(`/workspaces/${part(workspaceId)}/current-state-version`).catch((error: { status?: number }) => {
    if (error.status === 404) return undefined;
    throw error;
  });

const upload = async ({ target }: Import, workspaceId: string, { content, ...rest }: State): Promise<void> => {
  const { client } = target;
  const isSmall = content.length <= maxInlineBytes;
  const version = await client.create(`/workspaces/${workspaceId}/state-versions`, 'state-versions', {
    ...rest,
    ...(isSmall ? { state: content.toString('base64') } : {}),
  });
  const url = version.attributes['hosted-state-upload-url'];
  if (!isSmall && url) {
    const put = await fetch(url, { method: 'PUT', body: new Uint8Array(content) });
    if (!put.ok) throw new CommandError(`the upload of the state failed with status ${put.status}`);
  }
  const settled = await until(
    () => client.get(`/state-versions/${version.id}`),
    ({ attributes }) => attributes.status !== 'pending',
    60_000,
  );
  if (settled.attributes.status !== 'finalized') {
    throw new CommandError(
      `the state was rejected: ${settled.attributes['error-message'] ?? settled.attributes.status}`,
    );
  }
};

/** Why the source's state cannot follow the current one; undefined when it can. */
const conflictWith = async ({ target }: Import, current: Resource, state: State): Promise<string | undefined> => {
  const content = Buffer.from(
    await (await target.client.content(`/state-versions/${current.id}/download`)).arrayBuffer(),
  );
  const currentState = parse(content);
  if (currentState.lineage !== state.lineage) return 'not copied, because the target has a state with another lineage';
  if (currentState.serial > state.serial) return undefined;
  if (currentState.serial === state.serial)
    return md5Of(content) === state.md5
      ? undefined
      : 'not copied, because the target has a different state with the same serial';
  return related(current, 'run')
    ? 'not copied, because runs have changed both the target’s and the source’s state since the last import'
    : undefined;
};

export const copyState = async (work: Import, original: Resource, copy: Resource): Promise<void> => {
  const { source, target, journal } = work;
  const item = `state ${nameOf(original)}`;
  const version = await currentOf((path) => source.get(path), original.id);
  if (!version) return;
  const active = await activeRun(work, original);
  if (active) throw new CommandError(`not copied, because ${active} at the source. Import again when it has finished`);
  const current = isPlaceholder(copy) ? undefined : await currentOf((path) => target.client.get(path), copy.id);
  if (current && Number(current.attributes.serial) > Number(version.attributes.serial)) {
    return journal.note(item, 'unchanged', 'the target has a newer state');
  }
  const state = await download(work, version);
  const conflict = current && (await conflictWith(work, current, state));
  if (conflict) throw new CommandError(conflict);
  if (current?.attributes.serial === state.serial) return journal.note(item, 'unchanged');
  if (!target.isDry) {
    await lockWorkspace(target.client, copy.id, 'stepform import');
    try {
      await upload(work, copy.id, state);
    } finally {
      await target.client.call('POST', `/workspaces/${copy.id}/actions/unlock`, {});
    }
  }
  journal.note(item, current ? 'changed' : 'created', `serial ${state.serial}`);
};
