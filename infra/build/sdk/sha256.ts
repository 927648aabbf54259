import { createHash, createHmac, createSecretKey, type Hash, type Hmac, type KeyObject } from 'node:crypto';

/** Node's own, without the one in JavaScript that the SDK keeps for Nodes that have none. */
export class Sha256Node {
  readonly digestLength = 32;
  readonly #key: KeyObject | undefined;
  #hash!: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#key = secret === undefined ? undefined : keyOf(secret);
    this.reset();
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest());
  }

  reset(): void {
    this.#hash = this.#key ? createHmac('sha256', this.#key) : createHash('sha256');
  }
}

/** Node 24 takes a key of its own in 10 µs, and bytes that are to be one in 60; every call is signed. */
const keyOf = (secret: string | ArrayBuffer | ArrayBufferView): KeyObject =>
  typeof secret === 'string'
    ? createSecretKey(secret, 'utf8')
    : createSecretKey(secret instanceof ArrayBuffer ? new Uint8Array(secret) : (secret as NodeJS.ArrayBufferView));
