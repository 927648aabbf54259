import type { PhaseName } from '#run/run.ts';

/**
 * Converts Terraform's machine-readable output (`-json`, one object per line) into the lines
 * of its normal output.
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
interface Output {
  value?: unknown;
  sensitive?: boolean;
}
/** A message about one resource: read, refreshed, created, … */
export interface Hook {
  resource?: { addr?: string };
  action?: string;
  provisioner?: string;
  output?: string;
}
export interface Message {
  '@message'?: unknown;
  '@level'?: string;
  /** RFC 3339 with microseconds and the zone of the runner. */
  '@timestamp'?: string;
  type?: string;
  diagnostic?: Diagnostic;
  hook?: Hook;
  outputs?: Record<string, Output>;
  changes?: { operation?: string };
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

/** The JSON object of a log line; undefined for a line of text. */
export const messageIn = (line: string): Message | undefined => {
  if (!line.startsWith('{"@')) return undefined;
  try {
    return JSON.parse(line) as Message;
  } catch {
    return undefined;
  }
};

const hidden = (sensitive: boolean | undefined, value: unknown): string =>
  sensitive ? '<sensitive>' : JSON.stringify(value ?? null, null, 2);

const outputLines = (outputs: Record<string, Output>): string[] =>
  Object.entries(outputs).flatMap(([name, { sensitive, value }]) =>
    `${name} = ${hidden(sensitive, value)}`.split('\n'),
  );

/** Messages of an apply that repeat its plan. */
const repeatsPlan = ({ type, changes }: Message): boolean =>
  type === 'planned_change' || (type === 'change_summary' && changes?.operation === 'plan');

/** Display lines for an object of a log. */
export const linesOf = (message: Message, phase: PhaseName): string[] => {
  const { type = '', diagnostic, hook, outputs = {} } = message;
  // The log already begins with the version.
  if (type === 'version' || type === 'provision_complete' || (phase === 'apply' && repeatsPlan(message))) return [];
  if (type === 'diagnostic' && diagnostic) return diagnosticLines(diagnostic);
  const text = String(message['@message'] ?? '');
  if (type === 'provision_progress' && hook?.resource?.addr && typeof hook.output === 'string') {
    return hook.output.split('\n').map((part) => `${hook.resource?.addr} (${hook.provisioner}): ${part}`);
  }
  // Outputs of an apply have values; those of a plan only have actions.
  if (type === 'outputs' && Object.values(outputs).some((output) => 'value' in output)) {
    return ['', colour(32, 'Outputs:'), '', ...outputLines(outputs)];
  }
  if (message['@level'] === 'error') return text.split('\n').map((part) => colour(31, part));
  if (/^(apply_complete|change_summary)$/.test(type)) return [colour(32, text)];
  return text.split('\n');
};

/** Display lines for a line of a log; the line itself if it is not such an object. */
export const readable = (line: string, phase: PhaseName): string[] => {
  const message = messageIn(line);
  return message ? linesOf(message, phase) : [line];
};
