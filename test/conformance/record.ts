import { appendFileSync } from 'node:fs';

/** A response of the public API, as a client got it. */
export interface Recorded {
  method: string;
  /** As sent, with query. */
  url: string;
  status: number;
  contentType: string;
  /** Undefined if there was none. */
  body: string | undefined;
}

/** File for recorded responses; the local platform reads the same variable (infra/local/host/http.ts). */
const recording = process.env.STEPFORM_RECORD;

export const record = (answer: Recorded): void => {
  if (recording) appendFileSync(recording, `${JSON.stringify(answer)}\n`);
};
