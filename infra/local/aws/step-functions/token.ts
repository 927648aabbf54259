import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { keptSecret } from '../ssm/secrets.ts';

/** Which task a token stands for. */
export interface TaskName {
  executionArn: string;
  /** Milliseconds since 1970; a name may be used again when its execution is long gone. */
  startedAt: number;
  /** Unique among all attempts of all tasks of the execution. */
  task: string;
}

/**
 * Task tokens that say by themselves which task they stand for, and that only this data folder can make: nothing has to
 * be kept to know them again after a restart, and none lies in the journals.
 */
export class Tokens {
  /** Not its bytes, which each signature would make a key of again, at five times its cost. */
  readonly #key: KeyObject;

  constructor(dataDir: string) {
    this.#key = createSecretKey(keptSecret(join(dataDir, 'token.key')));
  }

  issue({ executionArn, startedAt, task }: TaskName): string {
    const text = Buffer.from(JSON.stringify([executionArn, startedAt, task]));
    return `${text.toString('base64url')}.${this.#sign(text).toString('base64url')}`;
  }

  /** Undefined for what was never issued here. */
  read(token: string): TaskName | undefined {
    const [body = '', signature = ''] = token.split('.');
    const text = Buffer.from(body, 'base64url');
    const signed = this.#sign(text);
    const given = Buffer.from(signature, 'base64url');
    // Decoding passes over what does not belong in base64, so the token must also be written the one right way.
    const canonical = token === `${text.toString('base64url')}.${given.toString('base64url')}`;
    if (!canonical || given.length !== signed.length || !timingSafeEqual(given, signed)) return undefined;
    const [executionArn, startedAt, task] = JSON.parse(text.toString()) as [string, number, string];
    return { executionArn, startedAt, task };
  }

  #sign(text: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}
