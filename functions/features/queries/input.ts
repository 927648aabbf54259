import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { type ApiRequest, sourceOf } from '#api/request.ts';
import { readData, setting, text, toOne } from '#api/validation.ts';
import { findVersion, runVariables } from '#lifecycle/creation/new-run-input.ts';
import type { ConfigurationVersion } from '#resources/configurations/records.ts';
import { checkUnmanaged } from '#resources/workspaces/managed.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { isBefore114 } from '#run/engine.ts';
import type { Run } from '#run/run.ts';

/** Input of query runs (HCP API: query runs). */

const otherFields: OtherFields = {
  shown: 'actions created-at end-reason log-read-url status status-timestamps updated-at',
  related: 'canceled-by created-by',
};

const attributes = {
  // HCP's clients send it; otherwise it is derived from the request.
  source: setting(v.picklist(['tfe-api', 'tfe-ui', 'terraform', 'terraform+cloud'])),
  'terraform-version': setting(text(50)),
  'generate-config-out': setting(v.boolean()),
  variables: setting(runVariables),
};

const relationships = {
  workspace: toOne('workspaces'),
  'configuration-version': v.optional(toOne('configuration-versions')),
};

const workspacePointer = '/data/relationships/workspace';

/** @throws {ApiError} 422 */
const checkEngine = ({ engine, name }: Workspace, version: string, pointer: string): void => {
  if (engine === 'tofu') {
    throw unprocessable(workspacePointer, `workspace: ${name} runs OpenTofu, which does not support queries`);
  }
  if (isBefore114(version)) {
    throw unprocessable(pointer, `terraform-version: queries need Terraform 1.14 or newer, not ${version}`);
  }
};

export interface NewQuery extends Pick<Run, 'variables' | 'terraformVersion' | 'source'> {
  version: ConfigurationVersion;
  generatesConfiguration: boolean;
}

/** @throws {ApiError} 400 or 422 */
export const readNewQuery = async (request: ApiRequest, workspace: Workspace): Promise<NewQuery> => {
  const input = readData(request, attributes, relationships, otherFields);
  const { source, 'terraform-version': chosen, variables, 'generate-config-out': generates } = input.attributes;
  checkUnmanaged(workspace, 'start a run');
  if (workspace.executionMode === 'local') {
    throw unprocessable(
      workspacePointer,
      `workspace: ${workspace.name} runs Terraform locally; set its execution-mode to "remote" to run queries`,
    );
  }
  const terraformVersion = chosen ?? workspace.terraformVersion;
  checkEngine(workspace, terraformVersion, chosen ? '/data/attributes/terraform-version' : workspacePointer);
  const version = await findVersion(workspace, input.relationships['configuration-version']?.data?.id);
  // A query waits for a commit that is fetched again, but not for an upload.
  if (version.status !== 'uploaded' && version.status !== 'fetching') {
    throw unprocessable(
      '/data/relationships/configuration-version',
      `configuration-version: ${version.id} is ${version.status}, not uploaded`,
    );
  }
  return {
    version,
    terraformVersion,
    variables: variables ?? [],
    generatesConfiguration: generates ?? true,
    source: source ?? sourceOf(request),
  };
};
