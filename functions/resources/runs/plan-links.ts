import { type Answer, noContent, redirect } from '#api/answer.ts';
import { notFound } from '#api/errors.ts';
import type { ApiRequest } from '#api/request.ts';
import { acceptsGzip } from '#platform/net/encodings.ts';
import { objectSize, presignGet, presignGzip } from '#platform/store/bucket.ts';
import { objects } from '#platform/store/keys.ts';
import { hasExpired } from '#platform/store/retention.ts';
import type { Artifact } from '#run/phase-report.ts';
import type { Run } from '#run/run.ts';
import { isPhaseFinal } from '#run/status.ts';

/** Links to artifacts of a plan, separate from its routes, because functions without these routes use them too. */

/** Lifetime of a link in seconds (HCP API: plans). */
export const linkSeconds = 60;

/** A redirect to an artifact of the plan. @throws {ApiError} 404 */
export const linkToArtifact = async ({ id, createdAt }: Run, artifact: Artifact): Promise<Answer> => {
  const key = objects.artifact(id, 'plan', artifact);
  if (await hasExpired(key, createdAt)) throw notFound(`The content of the plan of run ${id} has expired.`);
  const presigned = artifact.endsWith('-gzip') ? presignGzip : presignGet;
  return redirect(307, await presigned(key, linkSeconds));
};

/**
 * A redirect to the redacted plan, compressed if it is large and the client accepts that; undefined if there is none.
 * @throws {ApiError} 404
 */
export const linkToRedacted = async (run: Run, request: ApiRequest): Promise<Answer | undefined> => {
  const { artifacts = {} } = run.plan.report ?? {};
  if (!artifacts['plan-json-redacted']) return undefined;
  const isCompressed = artifacts['plan-json-redacted-gzip'] && acceptsGzip(request.header('accept-encoding'));
  return linkToArtifact(run, isCompressed ? 'plan-json-redacted-gzip' : 'plan-json-redacted');
};

/** A runner uploads the schemas within this time after the plan, if at all. */
const awaitSchemasMs = 15 * 60_000;

/** 204 while the schemas may still arrive. @throws {ApiError} 404 */
export const schemasOf = async (subject: Run): Promise<Answer> => {
  const { id, plan } = subject;
  if (!isPhaseFinal(plan.status)) return noContent();
  if (await objectSize(objects.artifact(id, 'plan', 'provider-schemas')))
    return linkToArtifact(subject, 'provider-schemas');
  const finished = plan.statusTimestamps['finished-at'];
  if (finished && Date.now() - Date.parse(finished) < awaitSchemasMs) return noContent();
  throw notFound(`The plan of run ${id} has no provider schemas: it is ${plan.status}.`);
};
