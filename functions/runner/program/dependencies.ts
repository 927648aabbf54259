/**
 * The dependencies of each resource of a configuration, as far as a plan shows them: references in its expressions,
 * through variables and outputs of modules. References through local values are not in a plan.
 */

/** An expression, or a block of them at any depth. */
type Expressions = unknown;

interface Resource {
  address: string;
  expressions?: Expressions;
  count_expression?: Expressions;
  for_each_expression?: Expressions;
  depends_on?: string[];
}

interface Module {
  resources?: Resource[];
  outputs?: Record<string, { expression?: Expressions; depends_on?: string[] }>;
  module_calls?: Record<string, ModuleCall>;
}

interface ModuleCall {
  expressions?: Record<string, Expressions>;
  count_expression?: Expressions;
  for_each_expression?: Expressions;
  depends_on?: string[];
  module?: Module;
}

/** The configuration in the output of `terraform show -json` for a plan. */
export interface Configuration {
  root_module?: Module;
}

/** Configurations are about four levels deep; an endless one would be an attack. */
const maxDepth = 30;

const referencesIn = (value: unknown, depth = 0): string[] => {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return [];
  return Object.entries(value).flatMap(([key, value]) =>
    key === 'references' && Array.isArray(value)
      ? value.filter((text) => typeof text === 'string')
      : referencesIn(value, depth + 1),
  );
};

/** A module call. */
class Scope {
  readonly module: Module;
  readonly #call: ModuleCall | undefined;
  readonly #parent: Scope | undefined;
  readonly #prefix: string;
  readonly #addresses: Set<string>;
  readonly #children: Map<string, Scope>;
  readonly #resolved = new Map<string, string[]>();

  constructor(module: Module, prefix = '', call?: ModuleCall, parent?: Scope, depth = 0) {
    this.module = module;
    this.#call = call;
    this.#parent = parent;
    this.#prefix = prefix;
    this.#addresses = new Set((module.resources ?? []).map(({ address }) => address));
    const calls = depth > maxDepth ? [] : Object.entries(module.module_calls ?? {});
    this.#children = new Map(
      calls.map(([name, child]) => [
        name,
        new Scope(child.module ?? {}, `${prefix}module.${name}.`, child, this, depth + 1),
      ]),
    );
  }

  /** Addresses of the resources in the module and below it. */
  all(): string[] {
    return [
      ...[...this.#addresses].map((address) => this.#prefix + address),
      ...[...this.#children.values()].flatMap((child) => child.all()),
    ];
  }

  references(texts: string[]): string[] {
    return texts.flatMap((text) => this.#reference(text));
  }

  #reference(text: string): string[] {
    const cached = this.#resolved.get(text);
    if (cached) return cached;
    // Stops at cycles.
    this.#resolved.set(text, []);
    const addresses = this.#resolve(text);
    this.#resolved.set(text, addresses);
    return addresses;
  }

  #resolve(text: string): string[] {
    const parts = text.replaceAll(/\[[^\]]*\]/g, '').split('.');
    const [first = '', second = '', third] = parts;
    if (first === 'var') return this.#parent?.references(referencesIn(this.#call?.expressions?.[second])) ?? [];
    if (first === 'module') {
      const child = this.#children.get(second);
      // A reference to an output also lists the module itself.
      const output = third === undefined ? undefined : child?.module.outputs?.[third];
      return child && output
        ? child.references([...referencesIn(output.expression), ...(output.depends_on ?? [])])
        : [];
    }
    const address = parts.slice(0, first === 'data' ? 3 : 2).join('.');
    return this.#addresses.has(address) ? [this.#prefix + address] : [];
  }

  /** Entries of `depends_on`, including whole modules. */
  named(texts: string[] = []): string[] {
    return texts.flatMap((text) => {
      const [, name = ''] = /^module\.([^.[]+)$/.exec(text) ?? [];
      return this.#children.get(name)?.all() ?? this.#reference(text);
    });
  }

  /** Dependencies of the module call apply to all resources in it. */
  inherited(): string[] {
    const { depends_on, count_expression, for_each_expression } = this.#call ?? {};
    const callDependencies = [
      ...(this.#parent?.named(depends_on) ?? []),
      ...(this.#parent?.references(referencesIn([count_expression, for_each_expression])) ?? []),
    ];
    return [...callDependencies, ...(this.#parent?.inherited() ?? [])];
  }

  *dependencies(): Generator<[string, string[]]> {
    const inherited = this.inherited();
    for (const { address, depends_on, ...expressions } of this.module.resources ?? []) {
      const own = this.#prefix + address;
      const dependencies = [...this.references(referencesIn(expressions)), ...this.named(depends_on), ...inherited];
      const otherAddresses = [...new Set(dependencies)].filter((address) => address !== own);
      if (otherAddresses.length) yield [own, otherAddresses.sort()];
    }
    for (const child of this.#children.values()) yield* child.dependencies();
  }
}

/**
 * By address in the configuration, without resources that depend on nothing: `{ "module.a.null_resource.b":
 * ["null_resource.c"] }`.
 */
export const dependenciesOf = ({ root_module }: Configuration): Record<string, string[]> =>
  Object.fromEntries(new Scope(root_module ?? {}).dependencies());
