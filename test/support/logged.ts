import { vi } from 'vitest';

/** Fields of a line of the platform's log (platform/store/log.ts). */
export type LogLine = Record<string, unknown> & { message: string };

/**
 * Collects what functions log at these levels, until mocks are restored. Packages and Node warn in plain text, in any
 * process at any time: that is no line of the log.
 */
export const collectLog = (...levels: ('warn' | 'error')[]): LogLine[] => {
  const lines: LogLine[] = [];
  for (const level of levels)
    vi.spyOn(console, level).mockImplementation((text) => {
      if (String(text).startsWith('{')) lines.push(JSON.parse(text));
    });
  return lines;
};
