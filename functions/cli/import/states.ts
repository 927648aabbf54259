import { createHash } from 'node:crypto';
import { type Resource, related, until } from '../../client/client.ts';
import { isFinal, type RunStatus } from '../../run/status.ts';
import { CommandError } from '../exit.ts';
import { lockWorkspace } from '../workspace-lock.ts';
import { type Import, nameOf } from './context.ts';
import { part } from './source.ts';
import { isImagined } from './target.ts';

/** Current states of workspaces, as they are: with lineage and serial, to the byte. */

const maxStateBytes = 64 * 1024 * 1024;
/** Larger ones are uploaded around the API. */
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

/** Why the state may change at any moment; undefined when nothing goes on. */
const unrest = async ({ source }: Import, workspace: Resource): Promise<string | undefined> => {
  const run = related(workspace, 'current-run');
  if (!run) return undefined;
  const { attributes } = await source.get(`/runs/${part(run)}`);
  const status = String(attributes.status);
  return isOver(status) ? undefined : `run ${run} is ${status}`;
};

/** @throws {CommandError} for what is not the state that was announced */
const download = async ({ source }: Import, version: Resource): Promise<State> => {
  const link = version.attributes['hosted-state-download-url'];
  if (typeof link !== 'string' || link === '') throw new CommandError('the source offers no download of its state');
  const content = await source.bytes(link, maxStateBytes);
  const { serial, lineage } = parse(content);
  const md5 = md5Of(content);
  const { attributes } = version;
  if (serial !== attributes.serial) throw new CommandError(`its state has serial ${serial}, not ${attributes.serial}`);
  return { serial, lineage, content, md5 };
};

const parse = (content: Buffer): { serial: number; lineage: string } => {
  try {
    const { serial, lineage } = JSON.parse(content.toString('utf8')) as Partial<State>;
    if (Number.isSafeInteger(serial) && typeof lineage === 'string') return { serial: serial as number, lineage };
  } catch {
    // Said below.
  }
  throw new CommandError('what the source has for its state is not one');
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
    if (!put.ok) throw new CommandError(`the upload of its state was answered with ${put.status}`);
  }
  const settled = await until(
    () => client.get(`/state-versions/${version.id}`),
    ({ attributes }) => attributes.status !== 'pending',
    60_000,
  );
  if (settled.attributes.status !== 'finalized') {
    throw new CommandError(
      `its state was refused: ${settled.attributes['error-message'] ?? settled.attributes.status}`,
    );
  }
};

/** What keeps a state of the source from following the one that is here. */
const conflictWith = async ({ target }: Import, current: Resource, state: State): Promise<string | undefined> => {
  const content = Buffer.from(
    await (await target.client.content(`/state-versions/${current.id}/download`)).arrayBuffer(),
  );
  const here = parse(content);
  if (here.lineage !== state.lineage) return 'another state is here (its lineage differs): it was left alone';
  if (here.serial > state.serial) return undefined;
  if (here.serial === state.serial) return md5Of(content) === state.md5 ? undefined : 'both have a serial that differs';
  return related(current, 'run')
    ? 'runs have changed the state here and at the source since it was imported'
    : undefined;
};

export const copyState = async (work: Import, there: Resource, here: Resource): Promise<void> => {
  const { source, target, journal } = work;
  const item = `state ${nameOf(there)}`;
  const version = await currentOf((path) => source.get(path), there.id);
  if (!version) return;
  const going = await unrest(work, there);
  if (going) throw new CommandError(`not copied, ${going} at the source. Repeat the import when it is over`);
  const current = isImagined(here) ? undefined : await currentOf((path) => target.client.get(path), here.id);
  if (current && Number(current.attributes.serial) > Number(version.attributes.serial)) {
    return journal.note(item, 'unchanged', 'it has gone on here');
  }
  const state = await download(work, version);
  const conflict = current && (await conflictWith(work, current, state));
  if (conflict) throw new CommandError(conflict);
  if (current?.attributes.serial === state.serial) return journal.note(item, 'unchanged');
  if (!target.isDry) {
    await lockWorkspace(target.client, here.id, 'stepform import');
    try {
      await upload(work, here.id, state);
    } finally {
      await target.client.call('POST', `/workspaces/${here.id}/actions/unlock`, {});
    }
  }
  journal.note(item, current ? 'changed' : 'created', `serial ${state.serial}`);
};
