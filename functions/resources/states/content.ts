import { createHash } from 'node:crypto';
import { mayHaveLongNumbers, parseExactly } from '#platform/formats/exact-json.ts';
import { placeOf } from './members.ts';

/** The parts of a state file (Terraform: state format version 4) that the API returns. */

export interface StateOutput {
  name: string;
  sensitive: boolean;
  value: unknown;
  /** JSON type: string, number, boolean, array, object. */
  type: string;
  /** Terraform's type, as in the state: `"string"`, `["list", "string"]`. */
  detailedType: unknown;
}

export interface StateResource {
  name: string;
  /** Data sources start with `data.`. */
  type: string;
  count: number;
  /** `root`, `root.<module>` … */
  module: string;
  provider: string;
}

type Counts = Record<string, Record<string, number>>;

/** The state version that created or changed an instance. */
export interface InstanceChange {
  version: string;
  /** ISO 8601, UTC. */
  at: string;
  /** The run that wrote it. */
  run?: string;
}

/** One instance of a managed resource. */
export interface StateInstance {
  /** `module.a["x"].null_resource.b[0]` */
  address: string;
  name: string;
  type: string;
  /** `root`, `root.<module>` … */
  module: string;
  /** `hashicorp/null` */
  provider: string;
  /** Number or key; absent for the only instance. */
  index?: number | string | undefined;
  /** Hash of its attributes: a different one means a change. */
  digest?: string;
  /** Its creation failed half way, or it was marked: the next plan replaces it. */
  tainted?: true;
  /** Addresses in the configuration: `module.a.null_resource.b`. */
  dependencies?: string[];
  /** ISO 8601, UTC; absent for instances older than this attribute. */
  createdAt?: string;
  /** The last few changes, newest first. */
  changes?: InstanceChange[];
}

export interface StateSummary {
  outputs: StateOutput[];
  instances: StateInstance[];
  resources: StateResource[];
  modules: Counts;
  providers: Counts;
}

export interface StateContent extends StateSummary {
  serial: number;
  lineage: string;
  terraformVersion: string | null;
  /** Instances of managed resources. */
  managed: number;
  /** Of them, those that the next plan replaces. */
  tainted: number;
}

/** The content is not a valid state; users see the message. */
export class InvalidStateError extends Error {
  override name = 'InvalidStateError';
}

interface RawState {
  version?: unknown;
  serial?: unknown;
  lineage?: unknown;
  terraform_version?: unknown;
  outputs?: Record<string, { value?: unknown; type?: unknown; sensitive?: unknown }>;
  resources?: {
    mode?: string;
    type?: string;
    name?: string;
    module?: string;
    provider?: string;
    instances?: { index_key?: unknown; attributes?: unknown; dependencies?: unknown; status?: unknown }[];
  }[];
}

export const md5Of = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

const jsonType = (detailed: unknown): string => {
  const kind = Array.isArray(detailed) ? detailed[0] : detailed;
  if (kind === 'bool') return 'boolean';
  if (kind === 'list' || kind === 'set' || kind === 'tuple') return 'array';
  if (kind === 'map' || kind === 'object') return 'object';
  return typeof kind === 'string' ? kind : 'string';
};

/** `module.a["x"].module.b` → `root.a.b` */
const modulePath = (address = ''): string =>
  ['root', ...[...address.matchAll(/module\.([^.[]+)/g)].map(([, name]) => name)].join('.');

/** `provider["registry.terraform.io/hashicorp/null"].alias` → `hashicorp/null` */
const providerName = (provider: string): string =>
  /provider\["(?:[^"/]+\/)?([^"/]+\/[^"/]+)"\]/.exec(provider)?.[1] ?? provider;

type RawResource = NonNullable<RawState['resources']>[number];

const digestOf = (attributes: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(attributes ?? null))
    .digest('base64url')
    .slice(0, 16);

const dependenciesIn = (texts: unknown): Pick<StateInstance, 'dependencies'> =>
  Array.isArray(texts) && texts.length ? { dependencies: texts.filter((text) => typeof text === 'string') } : {};

const instancesOf = ({ mode, type, name, module, provider, instances = [] }: RawResource): StateInstance[] => {
  if (mode !== 'managed') return [];
  const base = `${module ? `${module}.` : ''}${type}.${name}`;
  return instances.map(({ index_key: key, attributes, dependencies, status }) => {
    const index = typeof key === 'string' || typeof key === 'number' ? key : undefined;
    return {
      address: index === undefined ? base : `${base}[${JSON.stringify(index)}]`,
      name: String(name),
      type: String(type),
      module: modulePath(module),
      provider: providerName(String(provider)),
      index,
      digest: digestOf(attributes),
      ...(status === 'tainted' ? { tainted: true } : {}),
      ...dependenciesIn(dependencies),
    };
  });
};

const count = (counts: Counts, group: string, type: string, n: number): void => {
  counts[group] ??= Object.create(null) as Record<string, number>;
  const key = type.replaceAll('_', '-');
  counts[group][key] = (counts[group][key] ?? 0) + n;
};

/** Far deeper than any value of Terraform. Deeper ones could not be serialized as JSON again. */
const maxLevels = 200;

/** Iterative, because an attacker can send values deep enough to overflow the stack. */
const nestsTooDeep = (value: unknown): boolean => {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxLevels) return true;
    level = level.flatMap((node) => (node !== null && typeof node === 'object' ? Object.values(node) : []));
  }
  return false;
};

const isRecord = (value: unknown): boolean => value !== null && typeof value === 'object' && !Array.isArray(value);
const isListOfRecords = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.every(isRecord));

/**
 * Clients can write any content, so the shape of everything read later is validated here. @throws {InvalidStateError}
 */
const checkShape = ({ outputs, resources }: RawState): void => {
  if (outputs !== undefined && outputs !== null && !(isRecord(outputs) && Object.values(outputs).every(isRecord))) {
    throw new InvalidStateError('The outputs of the state are not an object of objects.');
  }
  if (!isListOfRecords(resources)) throw new InvalidStateError('The resources of the state are not a list of objects.');
  for (const { module = '', instances } of resources ?? []) {
    if (typeof module !== 'string' || !isListOfRecords(instances)) {
      throw new InvalidStateError(
        'A resource of the state has a module that is not a string, or no list of instances.',
      );
    }
  }
};

/** @throws {InvalidStateError} */
export const parseState = (bytes: Uint8Array): StateContent => {
  try {
    return contentOf(readRaw(bytes));
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidStateError('The state is nested too deep.');
    throw error;
  }
};

/** Parses the numbers of outputs exactly, because only these are returned by the API. */
const exactOutputs = (bytes: Uint8Array): RawState['outputs'] => {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const place = placeOf(content, 'outputs');
  return place && (parseExactly(content.toString('utf8', place.from, place.to)) as RawState['outputs']);
};

const readRaw = (bytes: Uint8Array): RawState & { serial: number; lineage: string } => {
  let raw: RawState;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    raw = JSON.parse(text) as RawState;
    if (raw?.outputs && mayHaveLongNumbers(text)) raw.outputs = exactOutputs(bytes);
  } catch {
    throw new InvalidStateError('The state is not valid JSON.');
  }
  if (raw?.version !== 4) {
    throw new InvalidStateError(`The state has format version ${raw?.version}; only version 4 is supported.`);
  }
  if (!Number.isSafeInteger(raw.serial) || (raw.serial as number) < 0 || typeof raw.lineage !== 'string') {
    throw new InvalidStateError('The state has no serial or lineage.');
  }
  checkShape(raw);
  return raw as RawState & { serial: number; lineage: string };
};

const contentOf = (raw: ReturnType<typeof readRaw>): StateContent => {
  for (const [name, { value, type }] of Object.entries(raw.outputs ?? {})) {
    if (nestsTooDeep(value) || nestsTooDeep(type)) {
      throw new InvalidStateError(
        `Output ${name} of the state is nested too deep; the maximum is ${maxLevels} levels.`,
      );
    }
  }
  const modules: Counts = Object.create(null);
  const providers: Counts = Object.create(null);
  let managed = 0;
  const resources = (raw.resources ?? []).map((resource): StateResource => {
    const n = resource.instances?.length ?? 0;
    const type = `${resource.mode === 'data' ? 'data.' : ''}${resource.type}`;
    const provider = String(resource.provider);
    const module = modulePath(resource.module);
    if (resource.mode === 'managed') managed += n;
    count(modules, module, type, n);
    count(providers, provider, type, n);
    return { name: String(resource.name), type, count: n, module, provider };
  });
  const outputs = Object.entries(raw.outputs ?? {}).map(
    ([name, { value, type, sensitive }]): StateOutput => ({
      name,
      sensitive: sensitive === true,
      value: value ?? null,
      type: jsonType(type),
      detailedType: type ?? null,
    }),
  );
  const instances = (raw.resources ?? []).flatMap(instancesOf);
  return {
    serial: raw.serial,
    lineage: raw.lineage,
    terraformVersion: typeof raw.terraform_version === 'string' ? raw.terraform_version : null,
    managed,
    tainted: instances.filter(({ tainted }) => tainted).length,
    outputs,
    instances,
    resources,
    modules,
    providers,
  };
};
