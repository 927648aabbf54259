/** A plan as `terraform show -json` prints it (Terraform: JSON output format). */

export interface JsonChange {
  actions: string[];
  before?: unknown;
  after?: unknown;
  after_unknown?: unknown;
  before_sensitive?: unknown;
  after_sensitive?: unknown;
  importing?: { id?: string };
  generated_config?: string;
  replace_paths?: unknown[];
}

export interface JsonResourceChange {
  address?: string;
  previous_address?: string;
  module_address?: string;
  mode?: string;
  type?: string;
  name?: string;
  index?: unknown;
  deposed?: string;
  provider_name?: string;
  change: JsonChange;
  action_reason?: string;
}

export interface JsonInvocation {
  address?: string;
  type?: string;
  name?: string;
  provider_name?: string;
  config_values?: unknown;
}

export interface JsonResource {
  address?: string;
  deposed_key?: string;
  mode?: string;
  type?: string;
  name?: string;
  index?: unknown;
  provider_name?: string;
  values?: unknown;
}

interface JsonModule {
  resources?: JsonResource[];
  child_modules?: JsonModule[];
}

interface JsonCheck {
  address?: { to_display?: string };
  status?: string;
  problems?: { message?: string }[];
}

export interface ComparedJson {
  terraform_version?: string;
  timestamp?: string;
  variables?: Record<string, { value?: unknown }>;
  checks?: (JsonCheck & { instances?: JsonCheck[] })[];
  relevant_attributes?: { resource?: string; attribute?: unknown[] }[];
  prior_state?: { values?: { outputs?: Record<string, { value?: unknown }>; root_module?: JsonModule } };
  configuration?: { root_module?: { variables?: Record<string, { default?: unknown }> } };
  resource_changes?: JsonResourceChange[];
  resource_drift?: JsonResourceChange[];
  deferred_changes?: { resource_change?: JsonResourceChange }[];
  action_invocations?: JsonInvocation[];
  deferred_action_invocations?: { action_invocation?: JsonInvocation }[];
  output_changes?: Record<string, JsonChange>;
  planned_values?: { outputs?: Record<string, { value?: unknown }>; root_module?: JsonModule };
}

/** Resources of a module and of the modules below it. */
export const resourcesIn = ({ resources = [], child_modules = [] }: JsonModule): JsonResource[] => [
  ...resources,
  ...child_modules.flatMap(resourcesIn),
];
