import { readFile } from 'node:fs/promises';
import { wrongUsage } from '../exit.ts';
import { plain } from '../paint.ts';
import { isAttended, readSecret } from '../terminal.ts';

/** Values that no platform tells: from a file, by the names that the import lists them by, or typed by whoever sits there. */
export interface Secrets {
  /** Undefined when there is none. */
  valueOf(item: string): Promise<string | undefined>;
}

/** @throws {CommandError} */
const readValues = async (path: string): Promise<Record<string, string>> => {
  try {
    const parsed: unknown = JSON.parse(await readFile(path, 'utf8'));
    const isFit =
      typeof parsed === 'object' &&
      parsed !== null &&
      !Array.isArray(parsed) &&
      Object.values(parsed).every((value) => typeof value === 'string');
    if (isFit) return parsed as Record<string, string>;
  } catch (error) {
    // The text of the error may quote the file.
    if ((error as NodeJS.ErrnoException).code) throw wrongUsage(`--secrets ${path} cannot be read`);
  }
  throw wrongUsage(`--secrets ${path} must be a JSON object: {"variable network/terraform/password": "…"}`);
};

/** @param asks whoever sits there; an empty answer leaves the value for later */
export const secretsFrom = async (path: string | undefined, asks: boolean): Promise<Secrets> => {
  const values = path === undefined ? {} : await readValues(path);
  return {
    valueOf: async (item) => {
      if (Object.hasOwn(values, item)) return values[item];
      if (!asks || !isAttended()) return undefined;
      return (await readSecret(`Value of ${plain(item)} (not shown, Enter for later): `)) || undefined;
    },
  };
};
