import { Readable } from 'node:stream';
import { traceHeaderOf } from '#infra/local/host/answers.ts';
import type { Caller } from '#infra/local/host/callers.ts';
import type { Gate } from '#infra/local/host/gate.ts';
import type { Accesses } from '../iam/access.ts';
import type { Usage } from '../lambda/usage.ts';
import { readTarget, type S3Request } from './request.ts';
import type { S3, S3Reply } from './s3.ts';

export interface S3CallsOptions {
  accesses: Accesses;
  gate: Gate;
  s3: S3;
  usage: Usage;
}

/** Calls to S3; their bodies are streams. */
export class S3Calls {
  readonly #options: S3CallsOptions;

  constructor(options: S3CallsOptions) {
    this.#options = options;
  }

  /** @param signature of a presigned URL, which counts for the run that it was created for */
  async answer(request: S3Request, caller: Caller, signature?: string): Promise<S3Reply> {
    const { accesses, gate, s3, usage } = this.#options;
    const target = readTarget(request);
    const access = accesses.s3(target);
    const traceHeader = traceHeaderOf(request.headers);
    const trace = gate.traced(traceHeader, () => request.url);
    const run = signature === undefined ? undefined : usage.runOfUrl(signature);
    if (run) usage.recordForRun(run, 's3', target.action);
    const call = {
      service: 's3',
      action: target.action,
      caller,
      access,
      trace: run ? undefined : trace,
      traceHeader,
    };
    let reply: S3Reply | undefined;
    try {
      return await gate.perform(call, async () => {
        // Without it S3 does not tell missing from forbidden.
        const listing = accesses.listing(target.bucket);
        const mayNotList = access[0]?.action === 's3:GetObject' && !caller.may(listing);
        if (mayNotList && !s3.exists(target.bucket, target.key)) gate.permit(caller, listing);
        reply = await s3.handle(request);
        return { output: reply, units: {} };
      });
    } catch (error) {
      // A fault rule dropped the response; close its file.
      if (reply?.body instanceof Readable) reply.body.destroy();
      throw error;
    }
  }
}
