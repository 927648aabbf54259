import { type Answer, ok } from '#api/answer.ts';
import { forbidden, notFound, unavailable } from '#api/errors.ts';
import { list, pageOf, pageSlice, wholeList } from '#api/pagination.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { sharedWorkspace } from '#resources/workspaces/finder.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
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

/**
 * Includes sensitive values for callers with permission to read the whole state, as HCP Terraform does in this list
 * only.
 */
const listOutputs = async ({ request, subject, granted }: Context<StateVersion>): Promise<Answer> => {
  const page = pageOf(request);
  const reveal = granted.has('state:read');
  const outputs = await outputsOf(subject);
  const documents = outputs.map((output, index) => outputDocument(subject.id, output, index, { reveal }));
  return list(request, page, documents.length, pageSlice(documents, page));
};

const currentOutputs = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const version = await currentVersion(subject);
  const outputs = await outputsOf(version);
  return wholeList(
    request,
    outputs.map((output, index) => outputDocument(version.id, output, index)),
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
