/** Fields of the explorer by type of query, and the operators for each kind (HCP API: explorer). */

export type Kind = 'text' | 'number' | 'boolean' | 'time';
export type Value = string | number | boolean | null;

/** A row: a field without a value is null; a list is one text, separated by ", ". */
export type Row = Record<string, Value>;

const text = 'text' as const;
const number = 'number' as const;
const boolean = 'boolean' as const;
const time = 'time' as const;

const dependencies = {
  name: text,
  source: text,
  version: text,
  registry_type: text,
  workspace_count: number,
  workspaces: text,
} satisfies Record<string, Kind>;

export const fields = {
  workspaces: {
    all_checks_succeeded: boolean,
    checks_errored: number,
    checks_failed: number,
    checks_passed: number,
    checks_unknown: number,
    current_rum_count: number,
    current_run_applied_at: time,
    /** Not in HCP's API: the status in words, with the step that failed. */
    current_run_display: text,
    current_run_external_id: text,
    current_run_status: text,
    drifted: boolean,
    external_id: text,
    module_count: number,
    modules: text,
    organization_name: text,
    project_external_id: text,
    project_name: text,
    provider_count: number,
    providers: text,
    resource_count: number,
    resources_drifted: number,
    resources_undrifted: number,
    source_module_id: text,
    state_version_terraform_version: text,
    tags: text,
    vcs_repo_identifier: text,
    workspace_created_at: time,
    workspace_name: text,
    workspace_terraform_version: text,
    workspace_updated_at: time,
  },
  tf_versions: { version: text, workspace_count: number, workspaces: text },
  providers: dependencies,
  modules: dependencies,
  resources: {
    name: text,
    address: text,
    provider_type: text,
    provider_name: text,
    module_name: text,
    terraform_version: text,
    billable_rum: boolean,
    source_type: text,
    source_id: text,
    source_updated_at: time,
    workspace_name: text,
    workspace_external_id: text,
    project_name: text,
    project_external_id: text,
    organization_external_id: text,
  },
} satisfies Record<string, Record<string, Kind>>;

export type QueryType = keyof typeof fields;
export const queryTypes = Object.keys(fields) as [QueryType, ...QueryType[]];

export const fieldsOf = (type: QueryType): Record<string, Kind> => fields[type];

const ofAll = ['is_empty', 'is_not_empty'] as const;

export const operators = {
  text: ['is', 'is_not', 'contains', 'does_not_contain', ...ofAll],
  number: ['is', 'is_not', 'gt', 'lt', 'gteq', 'lteq', ...ofAll],
  boolean: ['is', ...ofAll],
  time: ['is_before', 'is_after', ...ofAll],
} as const satisfies Record<Kind, readonly string[]>;

export type Operator = (typeof operators)[Kind][number];
