import { UnknownPlanFileError } from './errors.ts';

/**
 * Terraform's values in a plan file: MessagePack as go-cty writes it, read without the provider's schema. This works
 * because go-cty uses binary only for the type of a value whose type is not declared, and extensions only for unknown
 * values (go-cty: cty/msgpack).
 */

/** Known after the apply. */
export const unknown = Symbol('unknown');

export type Value = null | boolean | number | string | typeof unknown | Value[] | { [name: string]: Value };

const damaged = (): UnknownPlanFileError => new UnknownPlanFileError('a value in it is damaged');
const maxDepth = 200;

/** Marks the type in the [type, value] pair of a value whose type is not declared. */
const isType = Symbol('type');

class Reader {
  readonly #view: DataView;
  readonly #buffer: Buffer;
  #at = 0;

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#view = new DataView(buffer, byteOffset, byteLength);
    this.#buffer = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#buffer.length;
  }

  #take(bytes: number): number {
    const from = this.#at;
    if (bytes > this.#buffer.length - from) throw damaged();
    this.#at += bytes;
    return from;
  }

  #length(bytes: 1 | 2 | 4): number {
    const at = this.#take(bytes);
    if (bytes === 1) return this.#view.getUint8(at);
    return bytes === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  #text(length: number): string {
    const at = this.#take(length);
    return this.#buffer.toString('utf8', at, at + length);
  }

  #skip(length: number): void {
    this.#take(length);
  }

  #extension(length: number): typeof unknown {
    this.#skip(1 + length);
    return unknown;
  }

  #array(length: number, depth: number): Value {
    const items: Value[] = [];
    for (let i = 0; i < length; i++) {
      const item = this.#read(depth + 1);
      // The pair's type, which JSON omits, precedes its value.
      if (item === isType && i === 0 && length === 2) return this.value(depth + 1);
      if (item === isType) throw damaged();
      items.push(item);
    }
    return items;
  }

  #map(length: number, depth: number): Value {
    const entries: [string, Value][] = [];
    for (let i = 0; i < length; i++) {
      const key = this.value(depth + 1);
      if (typeof key !== 'string') throw damaged();
      entries.push([key, this.value(depth + 1)]);
    }
    return Object.fromEntries(entries);
  }

  /** @throws {UnknownPlanFileError} */
  value(depth = 0): Value {
    const value = this.#read(depth);
    if (value === isType) throw damaged();
    return value;
  }

  #read(depth: number): Value | typeof isType {
    if (depth > maxDepth) throw new UnknownPlanFileError('a value in it is nested too deeply');
    const head = this.#view.getUint8(this.#take(1));
    if (head < 0x80) return head;
    if (head < 0x90) return this.#map(head & 0x0f, depth);
    if (head < 0xa0) return this.#array(head & 0x0f, depth);
    if (head < 0xc0) return this.#text(head & 0x1f);
    if (head >= 0xe0) return head - 0x100;
    return this.#long(head, depth);
  }

  #long(head: number, depth: number): Value | typeof isType {
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
      case 0xc3:
        return head === 0xc3;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        this.#skip(this.#length(([1, 2, 4] as const)[head - 0xc4]!));
        return isType;
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#extension(this.#length(([1, 2, 4] as const)[head - 0xc7]!));
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#extension(2 ** (head - 0xd4));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#length(([1, 2, 4] as const)[head - 0xd9]!));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#length(head === 0xdc ? 2 : 4), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#length(head === 0xde ? 2 : 4), depth);
      default:
        return this.#number(head);
    }
  }

  #number(head: number): number {
    const view = this.#view;
    switch (head) {
      case 0xca:
        return view.getFloat32(this.#take(4));
      case 0xcb:
        return view.getFloat64(this.#take(8));
      case 0xcc:
        return view.getUint8(this.#take(1));
      case 0xcd:
        return view.getUint16(this.#take(2));
      case 0xce:
        return view.getUint32(this.#take(4));
      case 0xcf:
        return Number(view.getBigUint64(this.#take(8)));
      case 0xd0:
        return view.getInt8(this.#take(1));
      case 0xd1:
        return view.getInt16(this.#take(2));
      case 0xd2:
        return view.getInt32(this.#take(4));
      case 0xd3:
        return Number(view.getBigInt64(this.#take(8)));
      default:
        throw damaged();
    }
  }
}

/** @throws {UnknownPlanFileError} */
export const readValue = (content: Uint8Array): Value => {
  const reader = new Reader(content);
  const value = reader.value();
  if (!reader.isAtEnd) throw damaged();
  return value;
};
