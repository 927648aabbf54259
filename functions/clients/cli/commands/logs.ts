import type { Client } from '#clients/client/client.ts';
import { readLog } from '#clients/client/log.ts';
import { messageIn, readable } from '#platform/text/terraform-json.ts';
import { type Command, ofWorkspace } from '../arguments.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { coloured, dim, plain } from '../paint.ts';
import { readPlanLines } from '../plan-text.ts';
import { program } from '../program.ts';
import { fetchSnapshot } from '../run-snapshot.ts';
import { print, say } from '../terminal.ts';

const phases = ['plan', 'apply'] as const;
type Phase = (typeof phases)[number];

/** Terraform's output as text, and the changes of a plan whose output is JSON, which has none. */
const linesOf = async (client: Client, log: string, phase: Phase, id: string): Promise<string[]> => {
  const lines = log.trimEnd().split('\n');
  const isJson = lines.some((line) => messageIn(line) !== undefined);
  const changes = phase === 'plan' && isJson ? await readPlanLines(client, id).catch(() => []) : [];
  return [...lines.flatMap((line) => readable(line.replace(/\r$/, ''), phase)), ...changes];
};

export const logs: Command = {
  name: 'runs logs',
  about: 'Print Terraform’s output of a run: its plan, then its apply',
  takes: '[run]',
  options: {
    phase: { about: 'plan or apply only', value: 'phase', choices: phases },
    ...ofWorkspace,
  },
  more: 'Default: the current run of the workspace. With --json, prints one object per line, as runs watch does: phase, line.',
  run: async (call, session) => {
    const wanted = call.text('phase');
    if (wanted !== undefined && !phases.some((phase) => phase === wanted))
      throw wrongUsage(`--phase ${wanted}: give plan or apply`);
    const { id } = await session.run(call.word(0));
    const snapshot = await fetchSnapshot(session.client, id);
    let isEmpty = true;
    for (const phase of phases.filter((one) => wanted === undefined || one === wanted)) {
      const document = snapshot[phase];
      const log = document ? await readLog(document.attributes['log-read-url']) : '';
      if (!document || !log.trim()) continue;
      if (!isEmpty && !call.flag('json')) print('');
      isEmpty = false;
      for (const line of await linesOf(session.client, log, phase, document.id))
        print(call.flag('json') ? JSON.stringify({ event: 'log', phase, line: plain(line) }) : coloured(line));
    }
    if (snapshot.run.attributes.actions['is-cancelable'])
      say(dim(`The run is in progress. Watch it: ${program} runs watch ${id}`));
    else if (isEmpty) throw new CommandError(`Run ${id} has no ${wanted ?? 'Terraform'} output.`, exit.notFound);
  },
};
