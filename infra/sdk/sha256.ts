import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';

/** Node's own, without the one in JavaScript that the SDK keeps for Nodes that have none. */
export class Sha256Node {
  readonly digestLength = 32;
  readonly #secret: string | ArrayBuffer | ArrayBufferView | undefined;
  #hash!: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret;
    this.reset();
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest());
  }

  reset(): void {
    const secret = this.#secret;
    if (secret === undefined) this.#hash = createHash('sha256');
    else this.#hash = createHmac('sha256', secret instanceof ArrayBuffer ? new Uint8Array(secret) : (secret as string));
  }
}
