import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readKeptState, sealState } from '#platform/formats/kept-state.ts';
import { messageOf, RefusedError, TransportError } from '#platform/net/transport/errors.ts';
import { send } from '#platform/net/transport/http.ts';
import type { KeptStateAnswer, KeptStateKey, KeptStateRequest } from '#run/protocols/runner.ts';

/** The folder of encrypted states: runners write them, and the platform or agent on the same machine sends them. */

const ending = '.tfstate.encrypted';

export const keptStatePath = (folder: string, runId: string): string => join(folder, `${runId}${ending}`);

/** Writes the file atomically and durably, also if the power fails. */
export const writeKeptState = async (
  file: string,
  content: Buffer,
  runId: string,
  key: KeptStateKey,
): Promise<void> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const part = `${file}.${process.pid}`;
  try {
    const handle = await open(part, 'w', 0o600);
    try {
      await handle.writeFile(sealState(content, runId, key));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(part, file);
    await syncFolder(dirname(file));
  } catch (error) {
    // On a full disk: no later step would remove the partial file.
    await rm(part, { force: true });
    throw error;
  }
};

/** Makes the folder's file names durable too. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const post = async (url: string, request: KeptStateRequest): Promise<KeptStateAnswer> => {
  const body = Buffer.from(JSON.stringify(request));
  const headers = { 'content-type': 'application/json' };
  const answer = await send(`${url}/runner/v1/kept-state`, { method: 'POST', headers, body });
  const text = answer.body.toString('utf8');
  const message = `HTTP ${answer.status} ${text.slice(0, 500)}`;
  if (answer.status === 403 || answer.status === 410) throw new RefusedError(message, answer.status);
  if (answer.status !== 200) throw new TransportError(message);
  return JSON.parse(text) as KeptStateAnswer;
};

/** @returns whether the platform has stored it */
const offer = async (url: string, file: string): Promise<boolean> => {
  const content = await readFile(file);
  const { runId, sealed } = readKeptState(content);
  const sha256 = createHash('sha256').update(content).digest();
  const request = { runId, sealed, sha256: sha256.toString('hex') };
  const first = await post(url, request);
  if (first.action !== 'upload') return first.action === 'taken';
  const headers = { 'x-amz-checksum-sha256': sha256.toString('base64') };
  const { status } = await send(first.uploadUrl, { method: 'PUT', headers, body: content });
  if (status !== 200) throw new TransportError(`storage answered ${status}`);
  return (await post(url, request)).action === 'taken';
};

/**
 * Sends all states in the folder to the platform, and removes those that it has stored. Never throws.
 * @param url of the control plane, without a slash at the end
 * @param say prints the result for each state, for operators
 * @returns the number of states that this platform may still accept later; states of other platforms do not count
 */
export const sendKeptStates = async (url: string, folder: string, say: (text: string) => void): Promise<number> => {
  const names = await readdir(folder).catch(() => []);
  let unsent = 0;
  for (const name of names.filter((one) => one.endsWith(ending))) {
    const file = join(folder, name);
    try {
      if (await offer(url, file)) {
        await rm(file, { force: true });
        say(`The state that a runner kept at ${file} was sent to its run.`);
      } else unsent++;
    } catch (error) {
      const isRefused = error instanceof RefusedError;
      if (!isRefused) unsent++;
      say(`The state that a runner kept at ${file} cannot be sent${isRefused ? '' : ' yet'}: ${messageOf(error)}`);
    }
  }
  return unsent;
};
