import { unprocessable } from '#api/errors.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Engine, versionProblem } from '#run/engine.ts';
import type { Workspace, WorkspaceChange } from './records.ts';

/** Selects the engine of a workspace's runs, and checks that it has the requested version. */

/** The command line that sends the request; undefined for any other client. */
const commandLine = (request: ApiRequest): Engine | undefined => {
  if (request.header('terraform-version') === undefined) return undefined;
  return request.header('user-agent')?.startsWith('OpenTofu/') ? 'tofu' : 'terraform';
};

const names: Record<Engine, string> = { terraform: 'Terraform', tofu: 'OpenTofu' };

/**
 * A command line sets its own version on workspaces that it creates; with another engine, that version is ignored.
 * @throws {ApiError} 422
 */
export const checkVersion = (
  request: ApiRequest,
  change: Pick<WorkspaceChange, 'engine' | 'terraformVersion'>,
  current: Partial<Pick<Workspace, 'engine' | 'terraformVersion' | 'name'>> = {},
): void => {
  if (change.engine === undefined && change.terraformVersion === undefined) return;
  const engine = change.engine === undefined ? current.engine : change.engine;
  const version = change.terraformVersion ?? current.terraformVersion;
  const by = commandLine(request);
  const pointer = '/data/attributes/terraform-version';
  if (change.terraformVersion !== undefined && engine && by && by !== engine) {
    throw unprocessable(
      pointer,
      `terraform-version: runs of this workspace use ${names[engine]}; its version cannot be set by ${names[by]}`,
    );
  }
  const problem = version === undefined ? undefined : versionProblem(engine ?? undefined, version);
  if (problem) throw unprocessable(pointer, `terraform-version: ${problem}`);
};

/** Engine of a new workspace that names none: OpenTofu if its command line creates it, otherwise the organization's. */
export const engineOfNew = (request: ApiRequest, usual: Engine | null | undefined): Engine | null =>
  commandLine(request) === 'tofu' ? 'tofu' : (usual ?? null);
