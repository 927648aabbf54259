import type { PlanJson, PlanValues } from './plan-json.ts';

/** Output of `terraform providers schema -json`, reduced to the schemas that a plan needs. */
export interface SchemasJson {
  format_version: string;
  provider_schemas?: Record<string, ProviderSchema>;
}

export interface ProviderSchema {
  provider?: unknown;
  resource_schemas?: Record<string, unknown>;
  data_source_schemas?: Record<string, unknown>;
  [key: string]: unknown;
}

/** A type of a provider, as plans and states name it. */
export interface Typed {
  mode?: string;
  type: string;
  provider_name: string;
}

/** Only the schemas of the used types: all schemas of a large provider are thirty times the size of most plans. */
export const usedSchemas = (used: Typed[], schemas: SchemasJson): Record<string, ProviderSchema> => {
  const result: Record<string, ProviderSchema> = {};
  for (const { provider_name, type, mode } of used) {
    const kind = mode === 'data' ? 'data_source_schemas' : 'resource_schemas';
    const schema = schemas.provider_schemas?.[provider_name]?.[kind]?.[type];
    if (schema === undefined) continue;
    result[provider_name] ??= {};
    const provider = result[provider_name];
    provider[kind] ??= {};
    provider[kind][type] = schema;
  }
  return result;
};

export const changedTypes = (plan: PlanJson): Typed[] => [
  ...(plan.resource_changes ?? []),
  ...(plan.resource_drift ?? []),
  ...(plan.deferred_changes ?? []).flatMap(({ resource_change }) => resource_change ?? []),
];

const typesOf = ({ resources = [], child_modules = [] }: PlanValues): Typed[] => [
  ...resources,
  ...child_modules.flatMap(typesOf),
];

/** All types in the plan's changes, prior state and planned values. */
const allTypes = (plan: PlanJson): Typed[] => {
  const modules = [plan.planned_values?.root_module, plan.prior_state?.values?.root_module];
  return [...changedTypes(plan), ...modules.flatMap((module) => (module ? typesOf(module) : []))];
};

/** Whether the schemas contain all providers in the plan. */
export const covers = ({ provider_schemas = {} }: SchemasJson, plan: PlanJson): boolean =>
  allTypes(plan).every(({ provider_name }) => provider_name in provider_schemas);

/** Schemas of all types in the plan and of their providers' configurations, in Terraform's format. */
export const planSchemas = (plan: PlanJson, schemas: SchemasJson): SchemasJson => {
  const providers = Object.entries(usedSchemas(allTypes(plan), schemas)).map(([name, schema]) => {
    const { provider } = schemas.provider_schemas?.[name] ?? {};
    return [name, provider === undefined ? schema : { provider, ...schema }] as const;
  });
  return { ...schemas, provider_schemas: Object.fromEntries(providers) };
};
