import { addLayer } from './table-layers.ts';
import { undoAfterFile } from './undo.ts';

/** One error for all: recording a stack trace for each takes longer than answering a read. */
const frozenError = Object.assign(new Error('The table is frozen.'), { name: 'FrozenError' });

export interface Frozen {
  /** Number of read requests since the table was frozen. */
  reads: number;
  thaw(): void;
}

/** Writes of the audit trail are allowed, because it records rejections. */
const ofAudit = /^\{"TableName":"[^"]*","Item":\{"pk":\{"S":"AUDIT#/;

/**
 * Freezes the table, for tests that call the API ten thousand times: a read gets the response of the first identical
 * one, and a write fails as an internal error.
 */
export const freeze = (): Frozen => {
  const { error } = console;
  const { stackTraceLimit } = Error;
  const outputs = new Map<string, Promise<object>>();
  const removeLayer = addLayer(async (operation, input, next) => {
    const text = JSON.stringify(input);
    if (operation === 'PutItem' && ofAudit.test(text)) return {};
    if (!/^(Get|BatchGet|Query)/.test(operation)) throw frozenError;
    frozen.reads++;
    const key = `${operation} ${text}`;
    const output = outputs.get(key) ?? next(operation, input);
    outputs.set(key, output);
    // Readers of items create their own values from them.
    return output;
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
  // Each failed write is logged, and each rejection is an error: recording a stack trace takes as long as the request.
  console.error = () => {};
  Error.stackTraceLimit = 0;
  return frozen;
};
