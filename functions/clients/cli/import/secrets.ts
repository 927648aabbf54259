import { readFile } from 'node:fs/promises';
import { wrongUsage } from '../exit.ts';
import { plain } from '../paint.ts';
import { isAttended, readSecret } from '../terminal.ts';

/** Sensitive values, which the source's API does not return: from a file, by item name, or typed by the user. */
export interface Secrets {
  /** Undefined when no value was given. */
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
    // The error's message may quote the file.
    if ((error as NodeJS.ErrnoException).code) throw wrongUsage(`--secrets: can’t read ${path} as JSON`);
  }
  throw wrongUsage(`--secrets ${path} must be a JSON object: {"variable network/terraform/password": "…"}`);
};

/** @param asks prompts the user for missing values; an empty answer leaves a value out */
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
