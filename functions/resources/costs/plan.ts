/**
 * Reads the parts of a JSON plan that an estimate needs (`terraform show -json`, format 1.x) without parsing the rest: a large
 * plan is mostly prior state, and would take five times its size in memory when parsed.
 */

/** The plan is not valid; users see the message. */
export class PlanJsonError extends Error {
  override name = 'PlanJsonError';
}

export type Json = Record<string, unknown>;

/** An entry of `resource_changes` for a managed resource. */
export interface PlannedResource {
  address: string;
  moduleAddress: string;
  type: string;
  name: string;
  index?: string | number;
  providerName: string;
  /** Current values, without those that do not affect the price; absent if the resource does not exist yet. */
  before?: Json;
  /** Planned values; absent if the resource is destroyed. Values known only after apply are missing or null. */
  after?: Json;
  /** `true` in place of values known only after apply. */
  afterUnknown: Json;
}

export interface Plan {
  resources: PlannedResource[];
  /** Configuration from the plan, to find providers' regions and references between resources. */
  configuration: Json;
  /** Values of the root module's variables. */
  variables: Map<string, unknown>;
}

/** The configuration is parsed as a whole. It is about as large as the configuration's files. */
const maxConfigurationBytes = 16 * 1024 * 1024;

const quote = 0x22;
const backslash = 0x5c;
const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const opens = (byte: number | undefined): boolean => byte === 0x7b || byte === 0x5b;
const closes = (byte: number | undefined): boolean => byte === 0x7d || byte === 0x5d;

const cut = (): PlanJsonError => new PlanJsonError('The JSON plan is truncated or not valid JSON.');

const afterSpace = (bytes: Buffer, from: number): number => {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
};

const afterString = (bytes: Buffer, from: number): number => {
  for (let end = bytes.indexOf(quote, from + 1); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === backslash) slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
  throw cut();
};

/** The end of the value that begins at `from`. Only brackets and strings are considered; JSON.parse checks the rest. */
const afterValue = (bytes: Buffer, from: number): number => {
  if (bytes[from] === quote) return afterString(bytes, from);
  let depth = 0;
  for (let at = from; at < bytes.length; ) {
    const byte = bytes[at];
    if (byte === quote) {
      at = afterString(bytes, at);
      continue;
    }
    if (opens(byte)) depth++;
    else if (depth === 0 && (byte === 0x2c || closes(byte) || isSpace(byte))) return at;
    else if (closes(byte) && --depth === 0) return at + 1;
    at++;
  }
  throw cut();
};

const parse = (bytes: Buffer, from: number, to: number): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8', from, to));
  } catch {
    throw cut();
  }
};

/** The items of an array or the members of an object, as the ranges of their values. */
function* itemsOf(bytes: Buffer, start: number): Generator<{ key: string; from: number; to: number }> {
  const isObject = bytes[start] === 0x7b;
  for (let at = afterSpace(bytes, start + 1); !closes(bytes[at]); ) {
    let key = '';
    if (isObject) {
      if (bytes[at] !== quote) throw cut();
      const end = afterString(bytes, at);
      key = String(parse(bytes, at, end));
      at = afterSpace(bytes, end);
      if (bytes[at] !== 0x3a) throw cut();
      at = afterSpace(bytes, at + 1);
    }
    const to = afterValue(bytes, at);
    yield { key, from: at, to };
    at = afterSpace(bytes, to);
    if (bytes[at] === 0x2c) at = afterSpace(bytes, at + 1);
    else if (!closes(bytes[at])) throw cut();
  }
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Long texts and maps are dropped: tags, scripts and policies are most of a resource and do not affect its price. */
const maxText = 300;
const lean = (values: Json): Json => {
  const copy: Json = {};
  for (const [name, value] of Object.entries(values)) {
    if (isObject(value) || (typeof value === 'string' && value.length > maxText)) continue;
    // An assignment to the name `__proto__` would set the prototype.
    Object.defineProperty(copy, name, { value, enumerable: true });
  }
  return copy;
};

const planned = (entry: unknown): PlannedResource | undefined => {
  if (!isObject(entry) || !isObject(entry.change))
    throw new PlanJsonError('A resource change in the JSON plan has no "change".');
  if (entry.mode === 'data') return undefined;
  const { change, index } = entry;
  return {
    address: text(entry.address),
    moduleAddress: text(entry.module_address),
    type: text(entry.type),
    name: text(entry.name),
    index: typeof index === 'string' || typeof index === 'number' ? index : undefined,
    providerName: text(entry.provider_name),
    before: isObject(change.before) ? lean(change.before) : undefined,
    after: isObject(change.after) ? lean(change.after) : undefined,
    afterUnknown: isObject(change.after_unknown) ? lean(change.after_unknown) : {},
  };
};

const variablesOf = (value: unknown): Map<string, unknown> =>
  new Map(
    Object.entries(isObject(value) ? value : {}).map(([name, variable]) => [
      name,
      isObject(variable) ? variable.value : undefined,
    ]),
  );

/**
 * Takes time and memory in proportion to the resource changes and the configuration.
 * @param keeps whether the values of resources of this type are needed; others are dropped
 * @throws {PlanJsonError}
 */
export const readPlan = (bytes: Buffer, keeps: (type: string) => boolean = () => true): Plan => {
  const start = afterSpace(bytes, 0);
  if (bytes[start] !== 0x7b) throw new PlanJsonError('The JSON plan is not an object.');
  const plan: Plan = { resources: [], configuration: {}, variables: new Map() };
  for (const { key, from, to } of itemsOf(bytes, start)) {
    if (key === 'format_version') {
      const version = parse(bytes, from, to);
      if (!/^1\./.test(text(version))) {
        throw new PlanJsonError(`The plan is in format ${JSON.stringify(version)}; cost estimates need format 1.x.`);
      }
    } else if (key === 'variables') {
      plan.variables = variablesOf(parse(bytes, from, to));
    } else if (key === 'configuration') {
      if (to - from > maxConfigurationBytes) {
        throw new PlanJsonError('The configuration in the plan is larger than 16 MiB, the maximum for cost estimates.');
      }
      const configuration = parse(bytes, from, to);
      if (isObject(configuration)) plan.configuration = configuration;
    } else if (key === 'resource_changes' && bytes[from] === 0x5b) {
      for (const item of itemsOf(bytes, from)) {
        const resource = planned(parse(bytes, item.from, item.to));
        if (!resource) continue;
        plan.resources.push(keeps(resource.type) ? resource : bare(resource));
      }
    }
  }
  return plan;
};

const bare = ({ before, after, ...resource }: PlannedResource): PlannedResource => ({
  ...resource,
  before: before && {},
  after: after && {},
  afterUnknown: {},
});
