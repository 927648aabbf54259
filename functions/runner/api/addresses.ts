import { environment } from '#platform/environment.ts';
import { presignContent, presignGet, presignLeftState, presignOnce, presignUpload } from '#platform/store/bucket.ts';
import { objects } from '#platform/store/keys.ts';
import { jsonUploadName, stateUploadName } from '#resources/states/records.ts';
import type { StateVersion } from '#resources/states/state-version.ts';
import type { Artifact, DeferredUpload, PhaseName } from '#run/protocols/runner.ts';
import type { Run } from '#run/run.ts';

/**
 * Every presigned URL that a runner gets. It needs no token, so whoever has been disowned still has it: a URL must be worth
 * nothing by then. A runner is given up for silence of 60 s at the earliest, and nothing else starts before it is gone.
 *
 * | address | given | good for | what a runner that was given up can do with it |
 * |---|---|---|---|
 * | GET configuration, state, plan | with the job | 15 min | read what it has read already |
 * | GET the runner's program | to everybody | 60 s | read what it runs |
 * | GET a shared provider | on request, before `init` | 15 min | read what any registry gives anybody |
 * | PUT an artifact (plan, its JSON, log …) | with the job, then on request before an upload | 60 s | nothing: storage takes it once |
 * | PUT a state version | when it is announced | 60 s | nothing: only the announced content (SHA-256) is taken |
 * | PUT the state that could not be stored | with the job, then with heartbeats | 24 h | nothing: it is looked for when the runner is gone, once |
 * | PUT provider schemas | in answer to its report | 1 h | it has none: it did not report; storage takes them once |
 * | PUT a state as JSON | in answer to its report | 1 h | it has none; the first that is seen is copied to where it is read |
 *
 * None outlives the credentials of the function that signed it (S3: presigned URLs).
 * That costs a short phase no request, and a longer one no more than one; an upload that begins too late asks again.
 */

export const downloadSeconds = 900;
const uploadSeconds = 60;
const leftSeconds = 24 * 3600;
const laterSeconds = 3600;

export const downloadUrl = (key: string): Promise<string> => presignGet(key, downloadSeconds);

/** The runner's own program, for an image that does not have it; undefined where all have. */
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

/** Without a SHA-256 a state is uploaded to a key that is never read. */
export const stateUploadUrl = ({ workspaceId, id, sha256 }: StateVersion): Promise<string> =>
  sha256 === undefined
    ? presignUpload(stateUploadName(id), uploadSeconds)
    : presignContent(objects.state(workspaceId, id, sha256), uploadSeconds, sha256);

/** Where a state goes that cannot become the workspace's, also while the control plane does not answer. */
export const leftStateUrl = ({ id }: Run): Promise<string> => presignLeftState(id, leftSeconds);

/** For content that no request waits for. @param stateVersion of the reporting run */
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
