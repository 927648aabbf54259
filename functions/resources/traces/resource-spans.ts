import { ResourceTimes, type Span } from '#platform/text/resource-times.ts';
import { messageIn } from '#platform/text/terraform-json.ts';
import { readLog, STX } from '#resources/runs/logs.ts';
import type { PhaseName, Run } from '#run/run.ts';

const pieceBytes = 4 * 1024 * 1024;
/** More make a trace unreadable, and some receivers refuse it. */
const maxSpans = 1000;

/**
 * Terraform's work on resources, from the phase's log: the calls of its providers. Empty for a log of text, which has no
 * times. Of more than 1,000, the longest.
 */
export const resourceSpans = async (run: Run, phase: PhaseName): Promise<Span[]> => {
  if (!run[phase].claimNonce) return [];
  const times = new ResourceTimes();
  let lines = 0;
  let rest = '';
  const decoder = new TextDecoder();
  for (let offset = 0; ; ) {
    const piece = await readLog(run, phase, offset, pieceBytes);
    const whole = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = whole.pop() ?? '';
    for (const line of whole) {
      const message = messageIn(line.replace(String.fromCharCode(STX), ''));
      const at = Date.parse(message?.['@timestamp'] ?? '');
      if (message && !Number.isNaN(at)) times.take(message, at, lines);
      lines++;
    }
    offset += piece.length;
    if (piece.length < pieceBytes) break;
  }
  const length = ({ from, to }: Span) => (to ?? times.latest) - from;
  return times.spans.sort((a, b) => length(b) - length(a)).slice(0, maxSpans);
};
