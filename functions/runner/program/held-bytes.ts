/** The last part of a stream of bytes, addressed by offset in the stream. */
export class HeldBytes {
  #from: number;
  #parts: Buffer[];

  /** @param from offset of the first byte */
  constructor(from: number, bytes: Buffer) {
    this.#from = from;
    this.#parts = [bytes];
  }

  push(bytes: Buffer): void {
    this.#parts.push(Buffer.from(bytes));
  }

  read(offset: number, length: number): Buffer {
    return this.#joined().subarray(offset - this.#from, offset - this.#from + length);
  }

  /** Drops the bytes before the offset. */
  drop(offset: number): void {
    this.#parts = [this.#joined().subarray(offset - this.#from)];
    this.#from = offset;
  }

  #joined(): Buffer {
    const [first, ...others] = this.#parts as [Buffer, ...Buffer[]];
    if (others.length === 0) return first;
    const all = Buffer.concat(this.#parts);
    this.#parts = [all];
    return all;
  }
}
