import { UnknownPlanFileError } from './errors.ts';

/** Reads protocol buffers as Terraform writes them, without their schema: the values of each field, in order. */

/**
 * Maximum number of values in a file, which code of the configuration can write: a value can have two bytes but needs
 * about fifty times as much memory here. Terraform writes about thirty values for each resource.
 */
const maxValues = 5_000_000;

const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 };
const maxVarintBytes = 10;

const damaged = (): UnknownPlanFileError => new UnknownPlanFileError('it is damaged');

export class Message {
  readonly #bytes = new Map<number, Uint8Array[]>();
  readonly #numbers = new Map<number, number>();

  readonly #budget: { values: number };

  /** @throws {UnknownPlanFileError} */
  constructor(content: Uint8Array, budget = { values: maxValues }) {
    this.#budget = budget;
    let at = 0;
    const varint = (): number => {
      let value = 0;
      for (let i = 0; i < maxVarintBytes; i++) {
        const byte = content[at++];
        if (byte === undefined) throw damaged();
        // Numbers beyond JavaScript's integers are either negative or never written by Terraform.
        value += (byte & 0x7f) * 2 ** (7 * i);
        if (byte < 0x80) return value;
      }
      throw damaged();
    };
    const skip = (length: number): Uint8Array => {
      if (length < 0 || length > content.length - at) throw damaged();
      at += length;
      return content.subarray(at - length, at);
    };
    while (at < content.length) {
      if (--budget.values < 0) throw new UnknownPlanFileError(`it has more than ${maxValues} values`);
      const tag = varint();
      const field = Math.floor(tag / 8);
      const type = tag % 8;
      if (type === wire.varint) this.#numbers.set(field, varint());
      else if (type === wire.bytes) this.#keep(field, skip(varint()));
      else if (type === wire.fixed64) skip(8);
      else if (type === wire.fixed32) skip(4);
      else throw damaged();
    }
  }

  #keep(field: number, value: Uint8Array): void {
    const values = this.#bytes.get(field);
    if (values) values.push(value);
    else this.#bytes.set(field, [value]);
  }

  /** 0 if the field is missing, as in protocol buffers. */
  number(field: number): number {
    return this.#numbers.get(field) ?? 0;
  }

  hasNumber(field: number): boolean {
    return this.#numbers.has(field);
  }

  bytes(field: number): Uint8Array[] {
    return this.#bytes.get(field) ?? [];
  }

  texts(field: number): string[] {
    return this.bytes(field).map((value) => Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString());
  }

  /** The last value, as in protocol buffers. */
  text(field: number): string | undefined {
    return this.texts(field).at(-1);
  }

  messages(field: number): Message[] {
    return this.bytes(field).map((content) => new Message(content, this.#budget));
  }

  /** @throws {UnknownPlanFileError} if the field occurs twice, because other readers merge the values */
  message(field: number): Message | undefined {
    const [content, second] = this.bytes(field);
    if (second) throw damaged();
    return content && new Message(content, this.#budget);
  }
}
