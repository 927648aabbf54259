/** Reads parameters, presets and resources from the plan of an import (Terraform's JSON output format 1.x). Pure. */

interface Resource {
  address: string;
  mode: 'managed' | 'data';
  type: string;
  name: string;
  index?: string | number;
  values?: Record<string, unknown>;
  sensitive_values?: unknown;
}

interface Module {
  resources?: Resource[];
  child_modules?: Module[];
}

interface ConfigurationModule {
  resources?: {
    address: string;
    type: string;
    name: string;
    expressions?: Record<string, { references?: string[] }>;
  }[];
  module_calls?: Record<string, { module?: ConfigurationModule }>;
}

export interface Plan {
  prior_state?: { values?: { root_module?: Module } };
  planned_values?: { root_module?: Module };
  configuration?: { root_module?: ConfigurationModule };
  resource_changes?: { address: string; mode?: string; change: { actions: string[] } }[];
}

export interface Option {
  name: string;
  description: string;
  value: string;
  icon: string;
}

export interface Parameter {
  name: string;
  displayName: string;
  description: string;
  type: string;
  formType: string;
  mutable: boolean;
  ephemeral: boolean;
  defaultValue: string;
  required: boolean;
  order: number;
  icon: string;
  options: Option[];
  regex: string;
  error: string;
  min?: number;
  max?: number;
  monotonic: string;
}

export interface Preset {
  id: string;
  name: string;
  description: string;
  icon: string;
  isDefault: boolean;
  parameters: Record<string, string>;
  /** Size of its pool; absent: no pool. */
  instances?: number;
  /** Other sizes at scheduled times (cron, in a time zone). */
  scheduled?: { cron: string; zone: string; instances: number }[];
  /** Maximum age of an environment in the pool. */
  ttlMs?: number;
}

export interface TemplateResource {
  type: string;
  name: string;
  hide: boolean;
  icon: string;
  dailyCost: number;
  metadata: { key: string; value: string; sensitive: boolean }[];
}

/** The template cannot be imported; users see the message. */
export class ImportError extends Error {
  override name = 'ImportError';
}

const all = (module: Module | undefined): Resource[] => [
  ...(module?.resources ?? []),
  ...(module?.child_modules ?? []).flatMap(all),
];

/** Data sources read during the plan are in the prior state, those read during the apply among the planned values. */
const dataSources = (plan: Plan, type: string): Record<string, unknown>[] => {
  const resources = [plan.prior_state?.values?.root_module, plan.planned_values?.root_module]
    .flatMap(all)
    .filter((resource) => resource.type === type);
  return [...new Map(resources.map((resource) => [resource.address, resource.values ?? {}])).values()];
};

const text = (value: unknown): string => (value === null || value === undefined ? '' : String(value));
const list = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value : []);

const parameterOf = (values: Record<string, unknown>): Parameter => {
  const [validation = {}] = list(values.validation);
  const number = (name: 'min' | 'max') =>
    validation[`${name}_disabled`] === true || typeof validation[name] !== 'number' ? {} : { [name]: validation[name] };
  return {
    name: text(values.name),
    displayName: text(values.display_name),
    description: text(values.description),
    type: text(values.type) || 'string',
    formType: text(values.form_type),
    mutable: values.mutable === true,
    ephemeral: values.ephemeral === true,
    defaultValue: text(values.default),
    required: values.optional !== true,
    order: Number(values.order ?? 0),
    icon: text(values.icon),
    options: list(values.option).map(({ name, description, value, icon }) => ({
      name: text(name),
      description: text(description),
      value: text(value),
      icon: text(icon),
    })),
    regex: text(validation.regex),
    error: text(validation.error),
    ...number('min'),
    ...number('max'),
    monotonic: text(validation.monotonic),
  };
};

const byOrder = (a: Parameter, b: Parameter): number =>
  a.order - b.order || (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1);

const repeated = (names: string[]): string | undefined => names.find((name, i) => names.indexOf(name) !== i);

/** @throws {ImportError} */
export const parametersIn = (plan: Plan): Parameter[] => {
  const parameters = dataSources(plan, 'coder_parameter').map(parameterOf).sort(byOrder);
  const twice = repeated(parameters.map(({ name }) => name));
  if (twice !== undefined)
    throw new ImportError(`coder_parameter names must be unique but "${twice}" appears several times`);
  return parameters;
};

const presetOf = (values: Record<string, unknown>, id: string): Preset => {
  const [prebuilds] = list(values.prebuilds);
  const instances = Number(prebuilds?.instances ?? 0);
  const [expiration] = list(prebuilds?.expiration_policy);
  const ttlMs = Number(expiration?.ttl ?? 0) * 1000;
  const [scheduling] = list(prebuilds?.scheduling);
  const scheduled = list(scheduling?.schedule).map(({ cron, instances: n }) => ({
    cron: text(cron),
    zone: text(scheduling?.timezone) || 'UTC',
    instances: Number(n ?? 0),
  }));
  const parameters = (values.parameters ?? {}) as Record<string, unknown>;
  return {
    id,
    name: text(values.name),
    description: text(values.description),
    icon: text(values.icon),
    isDefault: values.default === true,
    parameters: Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, text(value)])),
    instances: instances > 0 || scheduled.length > 0 ? instances : undefined,
    ttlMs: ttlMs || undefined,
    scheduled: scheduled.length > 0 ? scheduled : undefined,
  };
};

/** @param idOf must return the same id for the same name @throws {ImportError} */
export const presetsIn = (plan: Plan, idOf: (name: string) => string): Preset[] => {
  const presets = dataSources(plan, 'coder_workspace_preset').map((values) =>
    presetOf(values, idOf(text(values.name))),
  );
  const twice = repeated(presets.map(({ name }) => name));
  if (twice !== undefined)
    throw new ImportError(`coder_workspace_preset names must be unique but "${twice}" appears several times`);
  const defaults = presets.filter(({ isDefault }) => isDefault).map(({ name }) => name);
  if (defaults.length > 1)
    throw new ImportError(
      `a maximum of 1 coder_workspace_preset can be marked as default, but ${defaults.join(', ')} are`,
    );
  return presets;
};

/** Rejects templates that require external sign-in, which this platform does not offer. @throws {ImportError} */
export const checkExternalAuth = (plan: Plan): void => {
  const needed = dataSources(plan, 'coder_external_auth').find(({ optional }) => optional !== true);
  if (needed)
    throw new ImportError(
      `coder_external_auth "${text(needed.id)}" is required, and this platform does not provide external authentication: make it optional or remove it`,
    );
};

/** Agents and their parts are hidden: no agent connects here, and clients would wait for one. */
const hidden = new Set([
  'coder_script',
  'coder_agent',
  'coder_agent_instance',
  'coder_app',
  'coder_metadata',
  'coder_env',
]);

const withoutIndex = (address: string): string => address.replace(/\[[^\]]*\]/g, '');

/** Maps each block, such as `module.a.coder_metadata.b`, to the resource of its resource_id. */
const metadataTargets = (module: ConfigurationModule | undefined, prefix = ''): Map<string, string | undefined> => {
  const targets = new Map<string, string | undefined>();
  for (const { address, expressions } of module?.resources ?? []) {
    // For a resource with a count, Terraform lists the instance first: `terraform_data.compute[0]`.
    const reference = expressions?.resource_id?.references
      ?.map(withoutIndex)
      .find((address) => address.split('.').length === 2);
    targets.set(`${prefix}${address}`, reference && `${prefix}${reference}`);
  }
  for (const [name, call] of Object.entries(module?.module_calls ?? {})) {
    for (const [from, to] of metadataTargets(call.module, `${prefix}module.${name}.`)) targets.set(from, to);
  }
  return targets;
};

const metadataOf = (plan: Plan, managed: Resource[]): Map<string | undefined, Record<string, unknown>> => {
  const targets = metadataTargets(plan.configuration?.root_module);
  return new Map(
    managed
      .filter(({ type }) => type === 'coder_metadata')
      .map(({ address, values }) => [targets.get(withoutIndex(address)), values ?? {}]),
  );
};

const itemsOf = (metadata: Record<string, unknown>) =>
  list(metadata.item)
    .filter(({ is_null }) => is_null !== true)
    .map(({ key, value, sensitive }) => ({
      key: text(key),
      value: sensitive === true ? '' : text(value),
      sensitive: sensitive === true,
    }));

/** Planned managed resources, without agents and their parts. */
export const resourcesIn = (plan: Plan): TemplateResource[] => {
  const managed = all(plan.planned_values?.root_module).filter(({ mode }) => mode === 'managed');
  const metadata = metadataOf(plan, managed);
  return managed
    .filter(({ type }) => !hidden.has(type))
    .map(({ address, type, name }): TemplateResource => {
      const own = metadata.get(withoutIndex(address)) ?? {};
      return {
        type,
        name,
        hide: own.hide === true,
        icon: text(own.icon),
        dailyCost: Number(own.daily_cost ?? 0),
        metadata: itemsOf(own),
      };
    });
};

export const isHidden = (type: string): boolean => hidden.has(type);
