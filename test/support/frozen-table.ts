import type { DirectReply } from '../../functions/store/direct-calls.ts';
import { addLayer, tableOperation } from './direct-layers.ts';
import { undoAfterFile } from './undo.ts';

/** One for all: recording where each was thrown takes longer than answering a read. */
const frozenError = Object.assign(new Error('The table is frozen.'), { name: 'FrozenError' });

export interface Frozen {
  /** Requests that read, since then. */
  reads: number;
  thaw(): void;
}

/** The audit trail records refusals, and changes nothing else. */
const ofAudit = /^\{"TableName":"[^"]*","Item":\{"pk":\{"S":"AUDIT#/;
const noted: DirectReply = { status: 200, headers: {}, body: Buffer.from('{}') };

/**
 * Freezes what is in the table, for tests that ask the API ten thousand times: a read is answered as the first of its
 * kind was, and writes fail, as internal errors.
 */
export const freeze = (): Frozen => {
  const { error } = console;
  const { stackTraceLimit } = Error;
  const replies = new Map<string, Promise<DirectReply>>();
  const removeLayer = addLayer((request, next) => {
    const operation = tableOperation(request);
    if (operation === undefined) return next(request);
    const body = String(request.body);
    if (operation === 'PutItem' && ofAudit.test(body)) return Promise.resolve(noted);
    if (!/^(Get|BatchGet|Query)/.test(operation)) return Promise.reject(frozenError);
    frozen.reads++;
    const key = `${operation} ${body}`;
    const reply = replies.get(key) ?? next(request);
    replies.set(key, reply);
    return reply;
  });
  const frozen: Frozen = {
    reads: 0,
    thaw: () => {
      removeLayer();
      console.error = error;
      Error.stackTraceLimit = stackTraceLimit;
    },
  };
  undoAfterFile(frozen.thaw);
  // Those failures are logged, and each refusal is an error: a stack trace takes as long as the request.
  console.error = () => {};
  Error.stackTraceLimit = 0;
  return frozen;
};
