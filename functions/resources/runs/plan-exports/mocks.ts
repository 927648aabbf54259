import { isExactNumber } from '#platform/formats/exact-json.ts';
import { organizationNameOf, type Run } from '#run/run.ts';

/**
 * Mock data for Sentinel's imports, from a plan in JSON (Sentinel docs: tfplan/v2, tfconfig/v2, tfstate/v2, tfrun).
 * Version 1 of these imports is left out, because the JSON of Terraform 0.12 and later does not contain its data.
 * Pure.
 */

interface Block {
  address: string;
  mode?: string;
  type?: string;
  name?: string;
  provider_config_key?: string;
  expressions?: unknown;
  count_expression?: unknown;
  for_each_expression?: unknown;
  depends_on?: string[];
  provisioners?: unknown[];
}

interface ModuleConfig {
  resources?: Block[];
  variables?: Record<string, object>;
  outputs?: Record<string, object>;
  module_calls?: Record<string, { source?: string; module?: ModuleConfig } & object>;
}

interface StateModule {
  address?: string;
  resources?: { address: string }[];
  child_modules?: StateModule[];
}

export interface PlanJson {
  terraform_version?: string;
  variables?: unknown;
  planned_values?: unknown;
  resource_changes?: ({ address: string; deposed?: string } & object)[];
  resource_drift?: ({ address: string; deposed?: string } & object)[];
  output_changes?: unknown;
  configuration?: { provider_config?: unknown; root_module?: ModuleConfig };
  prior_state?: { terraform_version?: string; values?: { outputs?: unknown; root_module?: StateModule } };
}

const escapes: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const quoted = (text: string): string =>
  `"${text.replaceAll(/["\\\n\r\t]/g, (character) => escapes[character] as string).replaceAll(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;

/** A JSON value in Sentinel's language (Sentinel docs: language specification). */
export const literal = (value: unknown, indent = ''): string => {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object') return String(value);
  if (isExactNumber(value)) return JSON.stringify(value);
  const deeper = `${indent}\t`;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => `${deeper}${literal(item, deeper)},\n`).join('')}${indent}]`;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return '{}';
  const lines = entries.map(([key, item]) => `${deeper}${quoted(key)}: ${literal(item, deeper)},\n`);
  return `{\n${lines.join('')}${indent}}`;
};

const file = (values: Record<string, unknown>): string =>
  `${Object.entries(values)
    .map(([name, value]) => `${name} = ${literal(value)}`)
    .join('\n\n')}\n`;

const byAddress = (changes: PlanJson['resource_changes'] = []): Record<string, unknown> =>
  Object.fromEntries(
    changes.map((change) => [change.deposed ? `${change.address}:${change.deposed}` : change.address, change]),
  );

const tfplan = (plan: PlanJson): string =>
  file({
    terraform_version: plan.terraform_version ?? '',
    variables: plan.variables ?? {},
    planned_values: plan.planned_values ?? {},
    resource_changes: byAddress(plan.resource_changes),
    resource_drift: byAddress(plan.resource_drift),
    output_changes: plan.output_changes ?? {},
    raw: plan,
  });

interface Config {
  resources: Record<string, unknown>;
  provisioners: Record<string, unknown>;
  variables: Record<string, unknown>;
  outputs: Record<string, unknown>;
  module_calls: Record<string, unknown>;
}

/** Flattens the modules of a configuration: each element by its address. */
const collect = (module: ModuleConfig, address: string, into: Config): void => {
  const within = (name: string): string => (address ? `${address}:${name}` : name);
  for (const block of module.resources ?? []) {
    const full = address ? `${address}.${block.address}` : block.address;
    into.resources[full] = {
      address: full,
      module_address: address,
      mode: block.mode ?? 'managed',
      type: block.type ?? '',
      name: block.name ?? '',
      provider_config_key: block.provider_config_key ?? '',
      config: block.expressions ?? {},
      count: block.count_expression ?? {},
      for_each: block.for_each_expression ?? {},
      depends_on: block.depends_on ?? [],
    };
    for (const [i, provisioner] of (block.provisioners ?? []).entries()) {
      into.provisioners[`${full}:${i}`] = { resource_address: full, index: i, ...(provisioner as object) };
    }
  }
  for (const [name, variable] of Object.entries(module.variables ?? {})) {
    into.variables[within(name)] = { module_address: address, name, ...variable };
  }
  for (const [name, output] of Object.entries(module.outputs ?? {})) {
    into.outputs[within(name)] = { module_address: address, name, ...output };
  }
  for (const [name, { module: called, ...call }] of Object.entries(module.module_calls ?? {})) {
    into.module_calls[within(name)] = { module_address: address, name, ...call };
    if (called) collect(called, address ? `${address}.module.${name}` : `module.${name}`, into);
  }
};

const tfconfig = ({ configuration = {} }: PlanJson): string => {
  const config: Config = { resources: {}, provisioners: {}, variables: {}, outputs: {}, module_calls: {} };
  collect(configuration.root_module ?? {}, '', config);
  return file({ providers: configuration.provider_config ?? {}, ...config });
};

const resourcesOf = ({ address = '', resources = [], child_modules = [] }: StateModule): [string, unknown][] => [
  ...resources.map((resource): [string, unknown] => [resource.address, { module_address: address, ...resource }]),
  ...child_modules.flatMap(resourcesOf),
];

const tfstate = ({ prior_state: state = {}, terraform_version: version }: PlanJson): string =>
  file({
    terraform_version: state.terraform_version ?? version ?? '',
    outputs: state.values?.outputs ?? {},
    resources: Object.fromEntries(resourcesOf(state.values?.root_module ?? {})),
  });

const tfrun = (run: Run): string =>
  file({
    id: run.id,
    created_at: run.createdAt,
    message: run.message,
    speculative: run.planOnly,
    is_destroy: run.isDestroy,
    refresh: run.refresh,
    refresh_only: run.refreshOnly,
    replace_addrs: run.replaceAddrs ?? [],
    target_addrs: run.targetAddrs ?? [],
    organization: { name: organizationNameOf(run) },
    workspace: { id: run.workspaceId, name: run.workspaceName, working_directory: run.workingDirectory },
  });

const mocks = { 'tfplan/v2': 'tfplan-v2', 'tfconfig/v2': 'tfconfig-v2', 'tfstate/v2': 'tfstate-v2', tfrun: 'tfrun' };

const declarations = Object.entries(mocks)
  .map(([name, source]) => `mock "${name}" {\n  module {\n    source = "mock-${source}.sentinel"\n  }\n}\n`)
  .join('\n');

/** Files of a mock bundle, by name. */
export const mockBundle = (plan: PlanJson, run: Run): Record<string, string> => ({
  'sentinel.hcl': declarations,
  'mock-tfplan-v2.sentinel': tfplan(plan),
  'mock-tfconfig-v2.sentinel': tfconfig(plan),
  'mock-tfstate-v2.sentinel': tfstate(plan),
  'mock-tfrun.sentinel': tfrun(run),
});
