import { environment } from '#platform/environment.ts';
import { presignContent, presignGet, presignLeftState, presignOnce, presignUpload } from '#platform/store/bucket.ts';
import { objects } from '#platform/store/keys.ts';
import { jsonUploadName, stateUploadName } from '#resources/states/records.ts';
import type { StateVersion } from '#resources/states/state-version.ts';
import type { Artifact, DeferredUpload, PhaseName } from '#run/protocols/runner.ts';
import type { Run } from '#run/run.ts';

/**
 * All presigned URLs that a runner gets. They need no token, so a runner whose token was revoked still has them: by
 * then they must be useless. A runner is given up after 60 s without a heartbeat at the earliest, and no other runner
 * starts before it has stopped.
 *
 * | URL | issued | valid for | use for a runner that was given up |
 * |---|---|---|---|
 * | GET configuration, state, plan | with the job | 15 min | reads content that it already has |
 * | GET the runner's program | without authentication | 60 s | reads its own program |
 * | GET a shared provider | on request, before `init` | 15 min | reads a public package |
 * | PUT an artifact (plan, its JSON, log …) | with the job, then on request before an upload | 60 s | none: storage accepts one upload |
 * | PUT a state version | when it is announced | 60 s | none: storage accepts only the announced content (SHA-256) |
 * | PUT the state that could not be stored | with the job, then with heartbeats | 24 h | none: it is read once, after the runner has stopped |
 * | PUT provider schemas | in the response to its report | 1 h | not issued without a report; storage accepts one upload |
 * | PUT a state as JSON | in the response to its report | 1 h | not issued without a report; the first upload is copied to the key that is read |
 *
 * None outlives the credentials of the function that signed it (S3: presigned URLs). A short phase needs no further
 * request for URLs, and a longer one at most one; an upload that starts too late requests a new URL.
 */

export const downloadSeconds = 900;
const uploadSeconds = 60;
const leftSeconds = 24 * 3600;
const laterSeconds = 3600;

export const downloadUrl = (key: string): Promise<string> => presignGet(key, downloadSeconds);

/** URL of the runner's program, for an image that does not contain it; undefined if all images do. */
export const programUrl = async (name: string): Promise<string | undefined> => {
  const { runnerProgramBucket } = environment;
  if (!runnerProgramBucket) return undefined;
  return presignGet(`${name}.stepform-runner`, uploadSeconds, runnerProgramBucket);
};

const artifactUrl = (runId: string, phase: PhaseName, artifact: Artifact): Promise<string> =>
  presignOnce(objects.artifact(runId, phase, artifact), uploadSeconds);

const usual: Record<PhaseName, Artifact[]> = {
  plan: ['plan', 'plan-json', 'plan-json-redacted', 'log'],
  apply: ['log'],
};

export const artifactUrls = async (
  runId: string,
  phase: PhaseName,
  names = usual[phase],
): Promise<Partial<Record<Artifact, string>>> =>
  Object.fromEntries(
    await Promise.all(names.map(async (artifact) => [artifact, await artifactUrl(runId, phase, artifact)])),
  );

/** A state without a SHA-256 is uploaded to a key that is never read. */
export const stateUploadUrl = ({ workspaceId, id, sha256 }: StateVersion): Promise<string> =>
  sha256 === undefined
    ? presignUpload(stateUploadName(id), uploadSeconds)
    : presignContent(objects.state(workspaceId, id, sha256), uploadSeconds, sha256);

/** URL for a state that could not be saved as the workspace's, usable even if the control plane is unavailable. */
export const leftStateUrl = ({ id }: Run): Promise<string> => presignLeftState(id, leftSeconds);

/** URLs for uploads after the report. @param stateVersion of the reporting run */
export const laterUrls = async (
  run: Run,
  phase: PhaseName,
  stateVersion: StateVersion | undefined,
): Promise<Partial<Record<DeferredUpload, string>>> => {
  if (phase === 'plan') {
    const key = objects.artifact(run.id, 'plan', 'provider-schemas');
    return { 'provider-schemas': await presignOnce(key, laterSeconds) };
  }
  if (!stateVersion) return {};
  return { 'state-json': await presignUpload(jsonUploadName(stateVersion.id), laterSeconds) };
};
