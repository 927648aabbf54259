import type { Program } from './programs.ts';

export interface Building {
  programs: Pick<Program, 'name' | 'isAtHand' | 'provide'>[];
  hasGo: boolean;
  /** Time limit for all of them in milliseconds. */
  limitMs: number;
  say(line: string): void;
}

const lastLine = (error: unknown): string => {
  const { stderr = '', message = '' } = error as { stderr?: string; message?: string };
  return (stderr || message).trim().split('\n').at(-1) ?? '';
};

/**
 * Builds the missing programs, one after the other, within the time limit. A program that cannot be built gets a line
 * in the output and its tests are skipped; it is not an error.
 * @returns names of the built programs
 */
export const buildMissing = async ({ programs, hasGo, limitMs, say }: Building): Promise<string[]> => {
  const missing = programs.filter((program) => !program.isAtHand());
  const names = missing.map(({ name }) => name).join(' and ');
  const skip = (what: string, why: string): void => say(`SKIPPED: tests with ${what}: ${why}`);
  if (missing.length === 0) say(`${programs.map(({ name }) => name).join(' and ')}: kept from before`);
  if (missing.length > 0 && !hasGo) skip(names, 'there is no Go to build it with');
  const signal = AbortSignal.timeout(limitMs);
  const built: string[] = [];
  for (const { name, provide } of hasGo ? missing : []) {
    const began = Date.now();
    try {
      signal.throwIfAborted();
      await provide(signal);
      say(`${name}: built in ${Math.round((Date.now() - began) / 1000)} s`);
      built.push(name);
    } catch (error) {
      skip(name, signal.aborted ? `it was not built within ${limitMs / 60_000} minutes` : lastLine(error));
    }
  }
  return built;
};
