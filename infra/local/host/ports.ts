import { StartError } from './errors.ts';

/**
 * Listens where a restart should: on the port that was asked for; when none was, or any (0), on the one it had before,
 * because living runners and signed URLs still point there.
 * @param wanted port, 0 for any, undefined for the default
 * @param variable what a person sets to choose
 * @throws StartError when the port is taken
 */
export const listenOn = async (
  listen: (port: number) => Promise<number>,
  wanted: number | undefined,
  { before, fallback, variable }: { before: number | undefined; fallback: number; variable: string },
): Promise<number> => {
  if (!wanted && before) {
    try {
      return await listen(before);
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  const port = wanted ?? fallback;
  try {
    return await listen(port);
  } catch (error) {
    if (isTaken(error))
      throw new StartError(`port ${port} is in use; set ${variable} to another, or to 0 for any free one`);
    if ((error as NodeJS.ErrnoException).code === 'EACCES')
      throw new StartError(`port ${port} may not be used by you; set ${variable} to one above 1023`);
    throw error;
  }
};

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
