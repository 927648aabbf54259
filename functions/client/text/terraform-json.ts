/**
 * Terraform's machine-readable output (`-json`, one object a line), which runs of the cloud block log, as the lines
 * that people know from a terminal.
 */

interface Snippet {
  code?: string;
  start_line?: number;
  context?: string | null;
}
interface Diagnostic {
  severity?: string;
  summary?: string;
  detail?: string;
  address?: string;
  range?: { filename?: string; start?: { line?: number } };
  snippet?: Snippet | null;
}
interface Message {
  '@message'?: unknown;
  '@level'?: string;
  type?: string;
  diagnostic?: Diagnostic;
}

const colour = (code: number, text: string): string => `\x1b[${code}m${text}\x1b[0m`;

const diagnosticLines = ({ severity, summary = '', detail, range, snippet, address }: Diagnostic): string[] => {
  const code = severity === 'error' ? 31 : 33;
  const bar = colour(code, '│');
  const where = range?.filename ? `on ${range.filename} line ${range.start?.line ?? '?'}` : '';
  const context = snippet?.context ? `, in ${snippet.context}` : '';
  const source = snippet?.code?.split('\n').map((text, i) => `${(snippet.start_line ?? 0) + i}: ${text}`) ?? [];
  const inner = [
    `${colour(code, `${severity === 'error' ? 'Error' : 'Warning'}: `)}\x1b[1m${summary}\x1b[0m`,
    ...(where || address ? ['', `  ${address ? `with ${address}${where ? ', ' : ''}` : ''}${where}${context}`] : []),
    ...source.map((line) => `    ${line}`),
    ...(detail ? ['', ...detail.split('\n')] : []),
  ];
  return [colour(code, '╷'), ...inner.map((line) => `${bar} ${line}`), colour(code, '╵')];
};

/** The lines to show for a line of a log; itself when it is no such object. */
export const readable = (line: string): string[] => {
  if (!line.startsWith('{"@')) return [line];
  let message: Message;
  try {
    message = JSON.parse(line) as Message;
  } catch {
    return [line];
  }
  if (message.type === 'diagnostic' && message.diagnostic) return diagnosticLines(message.diagnostic);
  const text = String(message['@message'] ?? '');
  if (message['@level'] === 'error') return text.split('\n').map((part) => colour(31, part));
  if (/^(apply_complete|change_summary)$/.test(message.type ?? '')) return [colour(32, text)];
  return text.split('\n');
};
