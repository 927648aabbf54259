import { type Answer, ok } from '#api/answer.ts';
import { forbidden, notFound, unavailable } from '#api/errors.ts';
import { list, pageOf, pageSlice, wholeList } from '#api/pagination.ts';
import { isTooLarge, maxResponseBytes, sizeInResponse } from '#api/response-size.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { sharedWorkspace } from '#resources/workspaces/finder.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { StateOutput } from './content.ts';
import { outputDocument, readOutputId } from './document.ts';
import { finalizeStateVersion } from './finalize.ts';
import { sharedStateVersion, stateVersionOfOutput } from './finder.ts';
import { readSummary } from './records.ts';
import { currentVersion } from './routes.ts';
import type { StateVersion } from './state-version.ts';

/** Outputs of a version; clients retry after a 503. */
const outputsOf = async (stored: StateVersion) => {
  const version = await finalizeStateVersion(stored);
  if (version.status.startsWith('backing_data'))
    throw notFound(`The content of state version ${version.id} was deleted.`);
  const summary = await readSummary(version);
  if (!summary)
    throw unavailable(`State version ${version.id} is ${version.status}: its outputs are not available yet.`);
  return summary.outputs;
};

/** Part of a response that names, types and ids of outputs may take beside the values. */
const restBytes = maxResponseBytes / 8;

/**
 * An answer with all outputs, and with as many of their values as fit: the largest ones are left out, and clients read
 * them one by one.
 * @param omitted sizes of the values that are left out, by the output's index
 */
const fitting = (
  outputs: [number, StateOutput][],
  reveal: boolean,
  answer: (omitted: Map<number, number>) => Answer,
): Answer => {
  const whole = answer(new Map());
  if (!isTooLarge(whole)) return whole;
  const sizes = outputs
    .filter(([, { sensitive }]) => reveal || !sensitive)
    .map(([i, { value }]) => [i, sizeInResponse(JSON.stringify(value))] as const)
    .sort(([, a], [, b]) => b - a);
  let excess = sizes.reduce((sum, [, bytes]) => sum + bytes, 0) - (maxResponseBytes - restBytes);
  const omitted = new Map<number, number>();
  for (const [i, bytes] of sizes) {
    if (excess <= 0) break;
    omitted.set(i, bytes);
    excess -= bytes;
  }
  return answer(omitted);
};

/**
 * Includes sensitive values for callers with permission to read the whole state, as HCP Terraform does in this list
 * only.
 */
const listOutputs = async ({ request, subject, granted }: Context<StateVersion>): Promise<Answer> => {
  const page = pageOf(request);
  const reveal = granted.has('state:read');
  const outputs = await outputsOf(subject);
  const shown = pageSlice([...outputs.entries()], page);
  return fitting(shown, reveal, (omitted) => {
    const documents = shown.map(([i, output]) =>
      outputDocument(subject.id, output, i, { reveal, omittedBytes: omitted.get(i) }),
    );
    return list(request, page, outputs.length, documents);
  });
};

const currentOutputs = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const version = await currentVersion(subject);
  const outputs = await outputsOf(version);
  return fitting([...outputs.entries()], false, (omitted) =>
    wholeList(
      request,
      outputs.map((output, i) => outputDocument(version.id, output, i, { omittedBytes: omitted.get(i) })),
    ),
  );
};

/** Returns a sensitive value only to callers with permission to read the whole state. */
const readOutput = async ({ request, subject, granted }: Context<StateVersion>): Promise<Answer> => {
  const index = readOutputId(request.params.output ?? '')?.index ?? -1;
  const output = (await outputsOf(subject))[index];
  if (!output) throw notFound("State version output not found, or you don't have access.");
  if (output.sensitive && !granted.has('state:read')) {
    throw forbidden(`Output ${output.name} is sensitive: reading its value needs the permission state:read.`);
  }
  return ok(outputDocument(subject.id, output, index, { reveal: true }));
};

export const stateOutputRoutes: Route[] = [
  route('GET', '/state-versions/{version}/outputs', 'state:read-outputs', sharedStateVersion, listOutputs),
  route(
    'GET',
    '/workspaces/{workspace}/current-state-version-outputs',
    'state:read-outputs',
    sharedWorkspace,
    currentOutputs,
  ),
  route('GET', '/state-version-outputs/{output}', 'state:read-outputs', stateVersionOfOutput, readOutput),
];
