import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import { noKeys, type OtherFields } from '#api/known-attributes.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, setting, text, toOne } from '#api/validation.ts';
import { sha256Of } from '#platform/store/integrity.ts';
import { getRun } from '#resources/runs/records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { InvalidStateError, md5Of, parseState } from './content.ts';

/** Input of state versions. */

const otherFields: OtherFields = {
  // Outputs come from the state itself.
  shown: `billable-rum-count created-at encrypted-state-download-url error-message hosted-json-state-download-url
      hosted-json-state-upload-url hosted-state-download-url hosted-state-upload-url intermediate json-state-outputs
      modules permissions providers resources resources-processed sanitized-state-download-url
      sanitized-state-upload-url size state-version status terraform-version vcs-commit-sha vcs-commit-url`,
  related: 'created-by next-state-version outputs previous-state-version rollback-state-version workspace',
  lacking: { 'hyok-encrypted-data-key': noKeys },
};

const attributes = {
  serial: v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(0, 'must be 0 or more')),
  md5: v.pipe(
    v.string(),
    v.regex(/^[0-9a-fA-F]{32}$/, 'must be the MD5 of the raw state in hexadecimal'),
    v.toLowerCase(),
  ),
  lineage: setting(text(200)),
  force: setting(v.boolean()),
  // May be megabytes of text, whose content is checked after decoding.
  state: setting(v.string()),
  'json-state': setting(v.string()),
};

const pointer = (field: string) => `/data/attributes/${field}`;

const decodeState = (base64: string, md5: string): Buffer<ArrayBuffer> => {
  const bytes = Buffer.from(base64, 'base64');
  const actual = md5Of(bytes);
  if (actual !== md5) throw unprocessable(pointer('md5'), `md5: the state has MD5 ${actual}, not ${md5}`);
  return bytes;
};

const decodeJson = (base64: string): Buffer<ArrayBuffer> => {
  const bytes = Buffer.from(base64, 'base64');
  try {
    JSON.parse(bytes.toString('utf8'));
    return bytes;
  } catch {
    throw unprocessable(pointer('json-state'), 'json-state: must be base64-encoded JSON');
  }
};

const lineageOf = (content: Buffer): string => {
  try {
    return parseState(content).lineage;
  } catch (error) {
    if (error instanceof InvalidStateError) throw unprocessable(pointer('state'), `state: ${error.message}`);
    throw error;
  }
};

/** @throws {ApiError} 400 or 422 */
export const readNewState = async (request: ApiRequest, workspace: Workspace) => {
  const input = readData(request, attributes, { run: v.optional(toOne('runs')) }, otherFields);
  const { serial, md5, force, state } = input.attributes;
  const content = state ? decodeState(state, md5) : undefined;
  const lineage = input.attributes.lineage || (content ? lineageOf(content) : '');
  const json = input.attributes['json-state'];
  // Terraform sends this run id if TFE_RUN_ID is set, possibly by a run of another workspace.
  const runId = input.relationships.run?.data?.id;
  const run = runId ? await getRun(runId) : undefined;
  const ofRunId = run?.workspaceId === workspace.id ? run.id : undefined;
  return {
    serial,
    md5,
    ...(content ? { sha256: sha256Of(content) } : {}),
    lineage,
    force: force ?? false,
    content,
    json: json ? decodeJson(json) : undefined,
    ofRunId,
  };
};
