import { many, one } from '#api/answer.ts';
import { nameOf } from '#api/naming.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import type { NoCodeModule, VariableOption } from './records.ts';

/** HCP API: no-code modules. */
export const noCodeDocument = ({ id, organization, moduleId, enabled, versionPin, options, ...at }: NoCodeModule) => ({
  id,
  type: 'no-code-modules',
  attributes: {
    enabled,
    'version-pin': versionPin ?? null,
    'created-at': at.createdAt,
    'updated-at': at.updatedAt,
  },
  relationships: {
    organization: one('organizations', organization),
    'registry-module': one('registry-modules', moduleId),
    'variable-options': many(
      'variable-options',
      options.map((option) => option.id),
    ),
  },
  links: { self: `/api/v2/no-code-modules/${id}` },
});

export const optionDocument = (noCodeId: string, { id, name, type, options }: VariableOption) => ({
  id,
  type: 'variable-options',
  attributes: { 'variable-name': name, 'variable-type': type, options },
  relationships: { 'no-code-allowed-module': one('no-code-modules', noCodeId) },
});

/** HCP API: the upgrade of a workspace, represented by its run. */
export const upgradeDocument = (run: Run, { organization, name }: Workspace, baseUrl: string) => ({
  id: run.id,
  type: 'workspace-upgrade',
  attributes: {
    status: run.status,
    'plan-url': `${baseUrl}/app/${nameOf(organization)}/workspaces/${name}/runs/${run.id}`,
    message: '',
  },
  relationships: { workspace: one('workspaces', run.workspaceId), run: one('runs', run.id) },
});
