import type { Call } from '../arguments.ts';
import { type ExitCode, exit } from '../exit.ts';
import { endOf } from '../outcome.ts';
import { bold, dim, plain } from '../paint.ts';
import type { Session } from '../session.ts';
import { print } from '../terminal.ts';
import { type WatchEvent, watchRun } from '../watch.ts';

/** What is told of one run among several, in a line; undefined for what would be too much. */
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

/** Several runs at once, each line with its run; nobody is asked anything. */
export const watchAll = async (call: Call, { client }: Session): Promise<ExitCode> => {
  const left = new AbortController();
  const interrupted = () => left.abort();
  process.on('SIGINT', interrupted);
  const json = call.flag('json');
  const one = async (id: string): Promise<ExitCode> => {
    const emit = (event: WatchEvent) => {
      const line = lineOf(event);
      if (json) print(JSON.stringify({ ...event, 'run-id': id }));
      else if (line) print(`${dim(id)}  ${event.event === 'end' ? bold(plain(line)) : plain(line)}`);
    };
    const snapshot = await watchRun(client, id, {
      emit,
      decide: async () => (call.flag('wait') ? 'stay' : 'leave'),
      withLogs: false,
      signal: left.signal,
    });
    if (left.signal.aborted) return exit.interrupted;
    const end = endOf(snapshot);
    emit(end);
    return end['exit-code'];
  };
  try {
    const codes = await Promise.all([...new Set(call.words)].map(one));
    return codes.find((code) => code !== exit.done) ?? exit.done;
  } finally {
    process.off('SIGINT', interrupted);
  }
};
