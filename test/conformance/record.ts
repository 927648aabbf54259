import { appendFileSync } from 'node:fs';

/** An answer of the public API, as a client got it. */
export interface Recorded {
  method: string;
  /** As sent, with query. */
  url: string;
  status: number;
  contentType: string;
  /** Undefined when there was none. */
  body: string | undefined;
}

/** Where answers are collected; the local platform reads the same variable (infra/local/host/http.ts). */
const recording = process.env.STEPFORM_RECORD;

export const record = (answer: Recorded): void => {
  if (recording) appendFileSync(recording, `${JSON.stringify(answer)}\n`);
};
