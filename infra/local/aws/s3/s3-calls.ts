import type { IncomingMessage, ServerResponse } from 'node:http';
import { discardAnswer } from '#infra/local/host/answers.ts';
import type { Caller } from '#infra/local/host/callers.ts';
import { traceHeaderOf } from '#infra/local/host/calls.ts';
import type { Gate } from '#infra/local/host/gate.ts';
import type { Accesses } from '../iam/access.ts';
import type { Usage } from '../lambda/usage.ts';
import { readS3Request, type S3 } from './s3.ts';

export interface S3CallsOptions {
  accesses: Accesses;
  gate: Gate;
  s3: S3;
  usage: Usage;
}

/** Calls to S3, which answers by itself. */
export class S3Calls {
  readonly #options: S3CallsOptions;

  constructor(options: S3CallsOptions) {
    this.#options = options;
  }

  /** @param signature of a presigned URL, whose use is counted for the run that it was made for */
  async answer(request: IncomingMessage, response: ServerResponse, caller: Caller, signature?: string): Promise<void> {
    const { accesses, gate, s3, usage } = this.#options;
    const target = readS3Request(request);
    const access = accesses.s3(target);
    const traceHeader = traceHeaderOf(request.headers);
    const trace = gate.traced(traceHeader, () => request.url ?? '');
    const run = signature === undefined ? undefined : usage.runOfUrl(signature);
    if (run) usage.recordForRun(run, 's3', target.action);
    const call = {
      service: 's3',
      action: target.action,
      caller,
      access,
      trace: run ? undefined : trace,
      traceHeader,
      mute: () => discardAnswer(response),
    };
    await gate.perform(call, async () => {
      // Without it S3 does not tell what is missing from what is forbidden.
      const listing = accesses.listing(target.bucket);
      const mayNotList = access[0]?.action === 's3:GetObject' && !caller.may(listing);
      if (mayNotList && !(await s3.exists(target.bucket, target.key))) gate.permit(caller, listing);
      await s3.handle(request, response);
      return { output: undefined, units: {} };
    });
  }
}
