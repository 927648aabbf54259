import { fromBufferPromise } from 'yauzl';
import { type Address, parseAddress, providerIn } from './address.ts';
import { UnknownPlanFileError } from './errors.ts';
import { Message } from './protobuf.ts';
import { readValue, type Value } from './value.ts';

/**
 * The contents of a plan file, read without Terraform: a zip archive whose entry `tfplan` is a protocol buffer
 * (Terraform and OpenTofu: internal/plans/planproto/planfile.proto, whose field numbers are used here). The format
 * has not changed since 0.12, except that addresses are one text since 1.1.
 */

export interface PlannedChange {
  /** As Terraform writes it; composed from its parts in files of Terraform before 1.1, which contain only those. */
  address: string;
  parts: Address;
  previousAddress?: string;
  deposed?: string;
  /** `registry.terraform.io/hashicorp/aws` */
  provider: string;
  change: Planned;
  /** Number of the reason for the action. */
  reason: number;
  /** Attributes that require a replacement. */
  replacePaths: Value[][];
}

/** An invocation of one of Terraform's actions, since 1.14. */
export interface PlannedInvocation {
  address: string;
  parts: Address;
  provider: string;
  config?: Uint8Array;
}

export interface Planned {
  action: number;
  isImport: boolean;
  /** Id of the imported resource; empty if unknown, or without an import. */
  importId: string;
  /** HCL that Terraform generated for the resource. */
  generated: string;
  before?: Uint8Array;
  after?: Uint8Array;
}

/** Result of the conditions of a resource, output, variable or check block, or of one of its instances. */
interface PlannedCheck {
  address: string;
  status: number;
  messages: string[];
}

export interface PlanFile {
  terraformVersion: string;
  /** RFC 3339; empty in files of Terraform before 1.5. */
  timestamp: string;
  /** Input variables whose value differs from their default. MessagePack. */
  variables: Map<string, Uint8Array>;
  checks: { whole: PlannedCheck; instances: PlannedCheck[] }[];
  relevant: { resource: string; path: Value[] }[];
  /** The state before the changes, in Terraform's format; undefined if the file has none. */
  priorState?: Buffer;
  changes: PlannedChange[];
  /** Absent in files of Terraform before 1.1. */
  drift?: PlannedChange[];
  deferred: PlannedChange[];
  invocations: PlannedInvocation[];
  deferredInvocations: PlannedInvocation[];
  outputs: Map<string, Planned & { isSensitive: boolean }>;
}

const formatVersion = 3;
const maxBytes = 512 * 1024 * 1024;

/** Field numbers. */
const plan = {
  version: 1,
  variables: 2,
  changes: 3,
  outputs: 4,
  terraformVersion: 14,
  relevant: 15,
  drift: 18,
  checks: 19,
  timestamp: 21,
  deferred: 27,
  invocations: 30,
  deferredInvocations: 31,
};
const invocation = { address: 1, provider: 2, config: 4 };
const resource = {
  deposed: 7,
  provider: 8,
  change: 9,
  replacePaths: 11,
  reason: 12,
  address: 13,
  previousAddress: 14,
};
/** Field numbers before Terraform 1.1. */
const resourceParts = { module: 1, mode: 2, type: 3, name: 4, text: 5, number: 6 };
/** Field numbers of deferred changes and invocations. */
const deferred = { inner: 2 };
const output = { name: 1, change: 2, sensitive: 3 };
const change = { action: 1, values: 2, importing: 5, generated: 6 };
const importing = { id: 1 };
const value = { msgpack: 1 };
const entry = { key: 1, value: 2 };
const path = { steps: 1 };
const step = { attribute: 1, key: 2 };
const relevantAttribute = { resource: 1, path: 2 };
const check = { address: 2, status: 3, instances: 4 };
const checkInstance = { address: 1, status: 2, messages: 3 };

export const actions = { noOp: 0, create: 1, read: 2, delete: 5, forget: 8 } as const;
/** Actions with a value before the change only. Other actions with a single value have the one after the change. */
const onlyBefore = new Set<number>([actions.delete, actions.forget]);

const incomplete = (): UnknownPlanFileError => new UnknownPlanFileError('a change in it is incomplete');

const readChange = (message: Message | undefined): Planned => {
  if (!message) throw incomplete();
  const action = message.number(change.action);
  const [first, second] = message.messages(change.values).map((one) => one.bytes(value.msgpack).at(-1));
  const imported = message.message(change.importing);
  const importId = imported?.text(importing.id) ?? '';
  const common = { action, isImport: !!imported, importId, generated: message.text(change.generated) ?? '' };
  if (action === actions.noOp) return { ...common, before: first, after: first };
  if (action === actions.create) return { ...common, after: first };
  if (onlyBefore.has(action)) return { ...common, before: first };
  return { ...common, before: first, after: second };
};

/** Steps of a path: names of attributes, and keys of lists and maps. */
const readPath = (message: Message): Value[] =>
  message.messages(path.steps).map((one) => {
    const key = one.message(step.key)?.bytes(value.msgpack).at(-1);
    return key ? readValue(key) : (one.text(step.attribute) ?? '');
  });

const readRelevant = (message: Message): PlanFile['relevant'][number] => {
  const attribute = message.message(relevantAttribute.path);
  return {
    resource: message.text(relevantAttribute.resource) ?? '',
    path: attribute ? readPath(attribute) : [],
  };
};

const readCheck = (message: Message): PlanFile['checks'][number] => ({
  whole: { address: message.text(check.address) ?? '', status: message.number(check.status), messages: [] },
  instances: message.messages(check.instances).map((one) => ({
    address: one.text(checkInstance.address) ?? '',
    status: one.number(checkInstance.status),
    messages: one.texts(checkInstance.messages),
  })),
});

/** @throws {UnknownPlanFileError} */
const parsed = (address: string): Pick<PlannedChange, 'address' | 'parts'> => {
  const parts = parseAddress(address);
  if (!parts) throw new UnknownPlanFileError(`it has the address ${JSON.stringify(address)}`);
  return { address, parts };
};

const partsOf = (message: Message): Pick<PlannedChange, 'address' | 'parts'> => {
  const address = message.text(resource.address);
  if (address) return parsed(address);
  const [module = '', type, name] = [resourceParts.module, resourceParts.type, resourceParts.name].map((field) =>
    message.text(field),
  );
  if (!type || !name) throw incomplete();
  const mode = message.number(resourceParts.mode) === 0 ? 'managed' : 'data';
  const index =
    message.text(resourceParts.text) ??
    (message.hasNumber(resourceParts.number) ? message.number(resourceParts.number) : undefined);
  const whole = [module, mode === 'data' ? 'data' : '', type, name].filter(Boolean).join('.');
  const address_ = index === undefined ? whole : `${whole}[${JSON.stringify(index)}]`;
  return { address: address_, parts: { module, mode, type, name, ...(index === undefined ? {} : { index }) } };
};

const readResource = (message: Message): PlannedChange => ({
  ...partsOf(message),
  previousAddress: message.text(resource.previousAddress) || undefined,
  deposed: message.text(resource.deposed) || undefined,
  provider: providerIn(message.text(resource.provider) ?? ''),
  change: readChange(message.message(resource.change)),
  reason: message.number(resource.reason),
  replacePaths: message.messages(resource.replacePaths).map(readPath),
});

const readInvocation = (message: Message): PlannedInvocation => ({
  ...parsed(message.text(invocation.address) ?? ''),
  provider: providerIn(message.text(invocation.provider) ?? ''),
  config: message.message(invocation.config)?.bytes(value.msgpack).at(-1),
});

const deferredIn = (message: Message): Message => {
  const inner = message.message(deferred.inner);
  if (!inner) throw incomplete();
  return inner;
};

/** @param content of the file `tfplan`. @throws {UnknownPlanFileError} */
export const readPlan = (content: Uint8Array): PlanFile => {
  const message = new Message(content);
  const version = message.number(plan.version);
  if (version !== formatVersion)
    throw new UnknownPlanFileError(
      `its format is version ${version}, and this platform knows version ${formatVersion}`,
    );
  const terraformVersion = message.text(plan.terraformVersion) ?? '';
  const hasDrift = !/^(0\.|1\.0\.)/.test(terraformVersion);
  return {
    terraformVersion,
    timestamp: message.text(plan.timestamp) ?? '',
    variables: new Map(
      message
        .messages(plan.variables)
        .map((one) => [
          one.text(entry.key) ?? '',
          one.message(entry.value)?.bytes(value.msgpack).at(-1) ?? new Uint8Array(),
        ]),
    ),
    checks: message.messages(plan.checks).map(readCheck),
    relevant: message.messages(plan.relevant).map(readRelevant),
    changes: message.messages(plan.changes).map(readResource),
    ...(hasDrift ? { drift: message.messages(plan.drift).map(readResource) } : {}),
    deferred: message.messages(plan.deferred).map(deferredIn).map(readResource),
    invocations: message.messages(plan.invocations).map(readInvocation),
    deferredInvocations: message.messages(plan.deferredInvocations).map(deferredIn).map(readInvocation),
    outputs: new Map(
      message.messages(plan.outputs).map((one) => {
        const isSensitive = one.number(output.sensitive) !== 0;
        return [one.text(output.name) ?? '', { ...readChange(one.message(output.change)), isSensitive }] as const;
      }),
    ),
  };
};

const isEncrypted = (content: Buffer): boolean =>
  content.subarray(0, 1).toString() === '{' && content.includes('"encrypted_data"');

/** @throws {UnknownPlanFileError} */
export const readPlanFile = async (content: Buffer): Promise<PlanFile> => {
  if (isEncrypted(content)) throw new UnknownPlanFileError('OpenTofu has encrypted it');
  const { tfplan, tfstate } = (await extract(content).catch(() => undefined)) ?? {};
  if (!tfplan) throw new UnknownPlanFileError('it is not a zip archive with a tfplan');
  return { ...readPlan(tfplan), priorState: tfstate };
};

const endSignature = 0x06054b50;
const endBytes = 22;

/**
 * Whether the archive's end is unambiguous: without a comment, without bytes before or after its entries, and too
 * small for a second end record. Programs read other archives differently, and Terraform must read the same contents
 * as this program.
 */
const isPlain = (content: Buffer): boolean => {
  const end = content.length - endBytes;
  if (end < 0 || content.readUInt32LE(end) !== endSignature || content.readUInt16LE(end + 20) !== 0) return false;
  const [size, offset] = [content.readUInt32LE(end + 12), content.readUInt32LE(end + 16)];
  return content.readUInt16LE(end + 10) !== 0xffff && offset !== 0xffff_ffff && offset + size === end;
};

const wanted = ['tfplan', 'tfstate'] as const;
type Content = Partial<Record<(typeof wanted)[number], Buffer>>;

const extract = async (content: Buffer): Promise<Content | undefined> => {
  if (!isPlain(content)) return undefined;
  // Raw names: an extra field can contain another form, which Terraform does not read.
  const zip = await fromBufferPromise(content, { lazyEntries: true, decodeStrings: false });
  const found: Content = {};
  for await (const one of zip.eachEntry()) {
    const name = wanted.find((text) => Buffer.from(one.fileName).toString() === text);
    if (!name) continue;
    // If a name occurs twice, Terraform reads the first entry and other programs may read the last.
    if (found[name] || one.uncompressedSize > maxBytes) return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(one)) chunks.push(chunk as Buffer);
    found[name] = Buffer.concat(chunks);
  }
  return found;
};
