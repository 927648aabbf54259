import type { Call } from '../arguments.ts';
import { type ExitCode, exit } from '../exit.ts';
import { endOf } from '../outcome.ts';
import { bold, dim, plain } from '../paint.ts';
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
      withLogs: false,
      signal: interruption.signal,
    });
    if (interruption.signal.aborted) return exit.interrupted;
    const end = endOf(snapshot);
    emit(end);
    return end['exit-code'];
  };
  try {
    const codes = await Promise.all([...new Set(call.words)].map(watchOne));
    return codes.find((code) => code !== exit.done) ?? exit.done;
  } finally {
    process.off('SIGINT', interrupted);
  }
};
