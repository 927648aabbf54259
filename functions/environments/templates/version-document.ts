import type { Run } from '#run/run.ts';
import { uuidOf } from '../host/uuid.ts';
import { jobDocument, matchedProvisioners } from '../jobs.ts';
import { minimalUser } from '../people/users.ts';
import type { Parameter, Preset, TemplateResource } from './plan.ts';
import type { Variable } from './variables.ts';
import type { Version } from './versions.ts';

export const versionDocument = (version: Version, runs: Run[]) => ({
  id: version.id,
  template_id: version.templateId ?? null,
  organization_id: uuidOf(version.organization),
  created_at: version.createdAt,
  updated_at: version.updatedAt,
  name: version.name,
  message: version.message,
  job: jobDocument(version, runs, {
    type: 'template_version_import',
    input: { template_version_id: version.id },
  }),
  readme: version.readme,
  created_by: minimalUser(version.initiatorId, version.createdByName),
  archived: version.archived,
  warnings: [],
  import_warnings: version.warnings ?? [],
  has_external_agent: false,
  matched_provisioners: matchedProvisioners(),
});

export const parameterDocument = (parameter: Parameter) => ({
  name: parameter.name,
  display_name: parameter.displayName,
  description: parameter.description,
  description_plaintext: parameter.description,
  type: parameter.type,
  form_type: parameter.formType,
  mutable: parameter.mutable,
  ephemeral: parameter.ephemeral,
  default_value: parameter.defaultValue,
  required: parameter.required,
  icon: parameter.icon,
  options: parameter.options,
  validation_regex: parameter.regex,
  validation_error: parameter.error,
  validation_min: parameter.min,
  validation_max: parameter.max,
  validation_monotonic: parameter.monotonic,
});

/** Keys are capitalized, because Coder's Go type has no JSON names. */
export const presetDocument = ({ id, name, description, icon, isDefault, parameters, instances }: Preset) => ({
  ID: id,
  Name: name,
  Parameters: Object.entries(parameters).map(([Name, Value]) => ({ Name, Value })),
  Default: isDefault,
  DesiredPrebuildInstances: instances ?? null,
  Description: description,
  Icon: icon,
});

export const variableDocument = ({ name, description, type, value, defaultValue, required, sensitive }: Variable) => ({
  name,
  description,
  type: type || 'string',
  value: sensitive ? '' : (value ?? defaultValue ?? ''),
  default_value: sensitive ? '' : (defaultValue ?? ''),
  required,
  sensitive,
});

export const resourceDocument = (
  resource: TemplateResource,
  { jobId, createdAt, transition, n }: { jobId: string; createdAt: string; transition: string; n: number },
) => ({
  id: uuidOf(`${jobId} ${transition} ${n}`),
  created_at: createdAt,
  job_id: jobId,
  workspace_transition: transition,
  type: resource.type,
  name: resource.name,
  hide: resource.hide,
  icon: resource.icon,
  agents: [],
  metadata: resource.metadata,
  daily_cost: resource.dailyCost,
});
