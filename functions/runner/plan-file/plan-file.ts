import { fromBufferPromise } from 'yauzl';
import { type Address, parseAddress, providerIn } from './address.ts';
import { UnknownPlanFileError } from './errors.ts';
import { Message } from './protobuf.ts';

/**
 * What a plan file plans, read without Terraform: it is a zip archive, and `tfplan` in it a protocol buffer
 * (Terraform and OpenTofu: internal/plans/planproto/planfile.proto, whose field numbers are here). The same format since 0.12,
 * except that addresses are one text since 1.1.
 */

export interface PlannedChange {
  /** As Terraform writes it; composed where the file has its parts, so that only the parts count. */
  address: string;
  parts: Address;
  previousAddress?: string;
  deposed?: string;
  /** `registry.terraform.io/hashicorp/aws` */
  provider: string;
  change: Planned;
}

/** Of Terraform's actions, since 1.14. */
export interface PlannedInvocation {
  address: string;
  parts: Address;
  provider: string;
  config?: Uint8Array;
}

export interface Planned {
  action: number;
  isImport: boolean;
  before?: Uint8Array;
  after?: Uint8Array;
}

export interface PlanFile {
  changes: PlannedChange[];
  /** Absent in files of Terraform before 1.1. */
  drift?: PlannedChange[];
  deferred: PlannedChange[];
  invocations: PlannedInvocation[];
  deferredInvocations: PlannedInvocation[];
  outputs: Map<string, Planned>;
}

const formatVersion = 3;
const maxBytes = 512 * 1024 * 1024;

/** Numbers of fields. */
const plan = {
  version: 1,
  changes: 3,
  outputs: 4,
  terraformVersion: 14,
  drift: 18,
  deferred: 27,
  invocations: 30,
  deferredInvocations: 31,
};
const invocation = { address: 1, provider: 2, config: 4 };
const resource = { deposed: 7, provider: 8, change: 9, address: 13, previousAddress: 14 };
/** Before Terraform 1.1. */
const resourceParts = { module: 1, mode: 2, type: 3, name: 4, text: 5, number: 6 };
/** Of changes and of invocations. */
const deferred = { inner: 2 };
const output = { name: 1, change: 2 };
const change = { action: 1, values: 2, importing: 5 };
const value = { msgpack: 1 };

export const actions = { noOp: 0, create: 1, read: 2, delete: 5, forget: 8 } as const;
/** Of the one value of these, which it is; others have the value before and the one after. */
const onlyBefore = new Set<number>([actions.delete, actions.forget]);

const incomplete = (): UnknownPlanFileError => new UnknownPlanFileError('a change in it is incomplete');

const readChange = (message: Message | undefined): Planned => {
  if (!message) throw incomplete();
  const action = message.number(change.action);
  const [first, second] = message.messages(change.values).map((one) => one.bytes(value.msgpack).at(-1));
  const isImport = message.bytes(change.importing).length > 0;
  if (action === actions.noOp) return { action, isImport, before: first, after: first };
  if (action === actions.create) return { action, isImport, after: first };
  if (onlyBefore.has(action)) return { action, isImport, before: first };
  return { action, isImport, before: first, after: second };
};

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
  const path = [module, mode === 'data' ? 'data' : '', type, name].filter(Boolean).join('.');
  const address_ = index === undefined ? path : `${path}[${JSON.stringify(index)}]`;
  return { address: address_, parts: { module, mode, type, name, ...(index === undefined ? {} : { index }) } };
};

const readResource = (message: Message): PlannedChange => ({
  ...partsOf(message),
  previousAddress: message.text(resource.previousAddress) || undefined,
  deposed: message.text(resource.deposed) || undefined,
  provider: providerIn(message.text(resource.provider) ?? ''),
  change: readChange(message.message(resource.change)),
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
  const hasDrift = !/^(0\.|1\.0\.)/.test(message.text(plan.terraformVersion) ?? '');
  return {
    changes: message.messages(plan.changes).map(readResource),
    ...(hasDrift ? { drift: message.messages(plan.drift).map(readResource) } : {}),
    deferred: message.messages(plan.deferred).map(deferredIn).map(readResource),
    invocations: message.messages(plan.invocations).map(readInvocation),
    deferredInvocations: message.messages(plan.deferredInvocations).map(deferredIn).map(readInvocation),
    outputs: new Map(
      message
        .messages(plan.outputs)
        .map((one) => [one.text(output.name) ?? '', readChange(one.message(output.change))] as const),
    ),
  };
};

const isEncrypted = (content: Buffer): boolean =>
  content.subarray(0, 1).toString() === '{' && content.includes('"encrypted_data"');

/** @throws {UnknownPlanFileError} */
export const readPlanFile = async (content: Buffer): Promise<PlanFile> => {
  if (isEncrypted(content)) throw new UnknownPlanFileError('OpenTofu has encrypted it');
  const tfplan = await extract(content).catch(() => undefined);
  if (!tfplan) throw new UnknownPlanFileError('it is no zip archive with a tfplan');
  return readPlan(tfplan);
};

const endSignature = 0x06054b50;
const endBytes = 22;

/**
 * Whether its end leaves nothing to interpret: without a comment, without anything before or behind its entries, and not so
 * large that it has a second end. Programs read other archives in different ways, and Terraform must read what is read here.
 */
const isPlain = (content: Buffer): boolean => {
  const end = content.length - endBytes;
  if (end < 0 || content.readUInt32LE(end) !== endSignature || content.readUInt16LE(end + 20) !== 0) return false;
  const [size, offset] = [content.readUInt32LE(end + 12), content.readUInt32LE(end + 16)];
  return content.readUInt16LE(end + 10) !== 0xffff && offset !== 0xffff_ffff && offset + size === end;
};

const extract = async (content: Buffer): Promise<Buffer | undefined> => {
  if (!isPlain(content)) return undefined;
  // Names as they are: they can have another form in an extra field, which Terraform does not read.
  const zip = await fromBufferPromise(content, { lazyEntries: true, decodeStrings: false });
  let found: Buffer | undefined;
  for await (const entry of zip.eachEntry()) {
    if (Buffer.from(entry.fileName).toString() !== 'tfplan') continue;
    // Terraform reads the first of two, others may read the last.
    if (found || entry.uncompressedSize > maxBytes) return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    found = Buffer.concat(chunks);
  }
  return found;
};
