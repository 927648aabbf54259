import { type Call, timeoutOf } from '../arguments.ts';
import { type ExitCode, exit } from '../exit.ts';
import { endOf } from '../outcome.ts';
import { bold, dim, plain } from '../paint.ts';
import { waitOf } from '../run-snapshot.ts';
import type { Session } from '../session.ts';
import { print } from '../terminal.ts';
import { type WatchEvent, watchRun } from '../watch.ts';

/** One line for an event of one run among several; undefined for events that are not shown. */
const lineOf = (event: WatchEvent): string | undefined => {
  switch (event.event) {
    case 'status':
      return event.name;
    case 'end':
      return `ended: ${event.name}`;
    case 'waits':
      return `waits ${event.reason}`;
    case 'unreachable':
      return event.reason;
    case 'stage': {
      const { changes } = event;
      const counts = changes ? `: +${changes.additions} ~${changes.changes} −${changes.destructions}` : '';
      return `${event.stage} ${event.state}${counts}`;
    }
    default:
      return undefined;
  }
};

/** Watches several runs at once, each line prefixed with its run; asks no questions. */
export const watchAll = async (call: Call, { client }: Session): Promise<ExitCode> => {
  const interruption = new AbortController();
  const interrupted = () => interruption.abort();
  process.on('SIGINT', interrupted);
  let isLate = false;
  const timeoutMs = timeoutOf(call);
  const late = () => {
    isLate = true;
    interrupted();
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
  const json = call.flag('json');
  const watchOne = async (id: string): Promise<ExitCode> => {
    const emit = (event: WatchEvent) => {
      const line = lineOf(event);
      if (json) print(JSON.stringify({ ...event, 'run-id': id }));
      else if (line) print(`${dim(id)}  ${event.event === 'end' ? bold(plain(line)) : plain(line)}`);
    };
    const snapshot = await watchRun(client, id, {
      emit,
      decide: async () => (call.flag('wait') ? 'stay' : 'leave'),
      waitsFor: (run) => waitOf(client, run),
      leaves: () => !call.flag('wait'),
      withLogs: false,
      signal: interruption.signal,
    });
    if (interruption.signal.aborted) return isLate ? exit.timedOut : exit.interrupted;
    const end = endOf(snapshot);
    emit(end);
    return end['exit-code'];
  };
  try {
    const codes = await Promise.all([...new Set(call.words)].map(watchOne));
    return codes.find((code) => code !== exit.done) ?? exit.done;
  } finally {
    clearTimeout(timer);
    process.off('SIGINT', interrupted);
  }
};
