import { StartError } from './errors.ts';

/**
 * Listens on the requested port; if none or 0 is requested, on the previous one, because running runners and signed
 * URLs still use it.
 * @param wanted port, 0 for any, undefined for the default
 * @param variable environment variable for error messages
 * @throws StartError if the port is taken
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
      throw new StartError(`port ${port} needs more privileges; set ${variable} to one above 1023`);
    throw error;
  }
};

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
