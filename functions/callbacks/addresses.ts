import type { Run } from '../run/run.ts';
import type { Artifact, Later, PhaseName } from '../runner/protocol.ts';
import { presignGet, presignPut } from '../store/bucket.ts';
import { objects } from '../store/keys.ts';
import type { StateVersion } from '../store/states/state-versions.ts';

/**
 * Every presigned URL that a runner gets. It needs no token, so whoever has been disowned still has it: a URL must be worth
 * nothing by then. A runner is given up for silence of 60 s at the earliest, and nothing else starts before it is gone.
 *
 * | address | given | good for | what a runner that was given up can do with it |
 * |---|---|---|---|
 * | GET configuration, state, plan | with the job | 15 min | read what it has read already |
 * | PUT an artifact (plan, its JSON, log …) | on request, before each upload | 60 s | nothing: its last request is longer ago |
 * | PUT a state version | when it is announced | 60 s | nothing: only the announced content (MD5) is taken |
 * | PUT the state that could not be stored | with the job, then with heartbeats | 24 h | nothing: it is looked for when the runner is gone, once |
 * | PUT what comes later: provider schemas, state as JSON | in answer to its report | 1 h | it has none: it did not report |
 *
 * None outlives the credentials of the function that signed it (S3: presigned URLs).
 * That costs no request more than long-lived addresses would; an upload that begins too late asks again.
 */

const downloadSeconds = 900;
const uploadSeconds = 60;
const leftSeconds = 24 * 3600;
const laterSeconds = 3600;

export const downloadUrl = (key: string): Promise<string> => presignGet(key, downloadSeconds);

export const artifactUrl = (runId: string, phase: PhaseName, artifact: Artifact): Promise<string> =>
  presignPut(objects.artifact(runId, phase, artifact), uploadSeconds);

export const stateUploadUrl = ({ workspaceId, id, md5 }: StateVersion): Promise<string> =>
  presignPut(objects.state(workspaceId, id), uploadSeconds, { contentMd5: md5 });

/** Where a state goes that cannot become the workspace's, also while the control plane does not answer. */
export const leftStateUrl = ({ id }: Run): Promise<string> => presignPut(objects.leftState(id), leftSeconds);

/** For what nobody waits for. @param stateVersion of the run that reports */
export const laterUrls = async (
  run: Run,
  phase: PhaseName,
  stateVersion: StateVersion | undefined,
): Promise<Partial<Record<Later, string>>> => {
  if (phase === 'plan') {
    return { 'provider-schemas': await presignPut(objects.artifact(run.id, 'plan', 'provider-schemas'), laterSeconds) };
  }
  if (!stateVersion) return {};
  return { 'state-json': await presignPut(objects.jsonState(stateVersion.workspaceId, stateVersion.id), laterSeconds) };
};
