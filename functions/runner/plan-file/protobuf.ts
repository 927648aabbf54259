import { UnknownPlanFileError } from './errors.ts';

/** Protocol buffers as Terraform writes them, without their schema: the values of each field, in order. */

const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 };
const maxVarintBytes = 10;

const damaged = (): UnknownPlanFileError => new UnknownPlanFileError('it is damaged');

export class Message {
  readonly #bytes = new Map<number, Uint8Array[]>();
  readonly #numbers = new Map<number, number>();

  /** @throws {UnknownPlanFileError} */
  constructor(content: Uint8Array) {
    let at = 0;
    const varint = (): number => {
      let value = 0;
      for (let i = 0; i < maxVarintBytes; i++) {
        const byte = content[at++];
        if (byte === undefined) throw damaged();
        // Larger ones than JavaScript's integers are negative here, or no number that Terraform writes.
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

  /** 0 when it is not there, as protocol buffers have it. */
  number(field: number): number {
    return this.#numbers.get(field) ?? 0;
  }

  hasNumber(field: number): boolean {
    return this.#numbers.has(field);
  }

  bytes(field: number): Uint8Array[] {
    return this.#bytes.get(field) ?? [];
  }

  /** The last one counts. */
  text(field: number): string | undefined {
    const value = this.bytes(field).at(-1);
    return value && Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8');
  }

  messages(field: number): Message[] {
    return this.bytes(field).map((content) => new Message(content));
  }

  /** @throws {UnknownPlanFileError} when there are two, which readers of protocol buffers merge */
  message(field: number): Message | undefined {
    const [content, second] = this.bytes(field);
    if (second) throw damaged();
    return content && new Message(content);
  }
}
