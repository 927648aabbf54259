import type { Line } from './journal.ts';

const withoutDetails = /^(MapState(Succeeded|Failed|Aborted)|TaskStateAborted)$/;

const detailsKey = (type: string): string | undefined => {
  if (type.endsWith('StateEntered')) return 'stateEnteredEventDetails';
  if (type.endsWith('StateExited')) return 'stateExitedEventDetails';
  if (withoutDetails.test(type)) return undefined;
  return `${type[0]!.toLowerCase()}${type.slice(1)}EventDetails`;
};

/** Data that a caller can exclude, and the field with its truncation flag. */
const data = { input: 'inputDetails', output: 'outputDetails', parameters: undefined } as const;

/** Events of GetExecutionHistory. Journals contain no task tokens. */
export const historyOf = (lines: readonly Line[], includeExecutionData: boolean): object[] =>
  lines
    .filter(({ id }) => id > 0)
    .map(({ id, previous, at, type, details = {} }) => {
      const key = detailsKey(type);
      const shown: Record<string, unknown> = { ...details };
      for (const [field, flag] of Object.entries(data)) {
        if (!(field in shown)) continue;
        if (!includeExecutionData) delete shown[field];
        else if (flag) shown[flag] = { truncated: false };
      }
      return { timestamp: new Date(at), type, id, previousEventId: previous, ...(key && { [key]: shown }) };
    });
