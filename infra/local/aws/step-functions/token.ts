import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { keptSecret } from '../ssm/secrets.ts';

/** The task of a token. */
export interface TaskName {
  executionArn: string;
  /** Milliseconds since 1970; a name may be used again long after its execution has ended. */
  startedAt: number;
  /** Unique among all attempts of all tasks of the execution. */
  task: string;
}

/**
 * Task tokens that contain the identity of their task, signed with a key of this data folder: after a restart they are
 * valid without any stored token, and no journal contains one.
 */
export class Tokens {
  /** A key object, because signing with bytes would convert them each time, at five times the cost. */
  readonly #key: KeyObject;

  constructor(dataDir: string) {
    this.#key = createSecretKey(keptSecret(join(dataDir, 'token.key')));
  }

  issue({ executionArn, startedAt, task }: TaskName): string {
    const text = Buffer.from(JSON.stringify([executionArn, startedAt, task]));
    return `${text.toString('base64url')}.${this.#sign(text).toString('base64url')}`;
  }

  /** Undefined for a token that this service did not issue. */
  read(token: string): TaskName | undefined {
    const [body = '', signature = ''] = token.split('.');
    const text = Buffer.from(body, 'base64url');
    const signed = this.#sign(text);
    const given = Buffer.from(signature, 'base64url');
    // Decoding ignores characters outside base64, so the token must also equal its canonical encoding.
    const canonical = token === `${text.toString('base64url')}.${given.toString('base64url')}`;
    if (!canonical || given.length !== signed.length || !timingSafeEqual(given, signed)) return undefined;
    const [executionArn, startedAt, task] = JSON.parse(text.toString()) as [string, number, string];
    return { executionArn, startedAt, task };
  }

  #sign(text: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}
