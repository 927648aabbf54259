import { programName } from '#infra/local/commands/program-name.ts';

/** An AWS service error: `name` is the client's error code, `statusCode` the HTTP status (default 400). */
export class AwsError extends Error {
  readonly statusCode: number;

  constructor(code: string, message: string, statusCode = 400) {
    super(message);
    this.name = code;
    this.statusCode = statusCode;
  }
}

/** A problem that the user must fix before the platform can start; shown without a stack trace. */
export class StartError extends Error {
  override name = 'StartError';
}

/** Remedies for the data folder, by system error code. */
const remedies: Record<string, string> = {
  EACCES: 'Give this user access to it, or set STEPFORM_DATA to another folder.',
  EPERM: 'Give this user access to it, or set STEPFORM_DATA to another folder.',
  EROFS: 'It is on a read-only disk: set STEPFORM_DATA to another folder.',
  ENOSPC: 'The disk is full: free some space, or set STEPFORM_DATA to a folder on another disk.',
  EDQUOT: 'The disk quota is used up: free some space, or set STEPFORM_DATA to a folder on another disk.',
  EEXIST: 'STEPFORM_DATA must be a folder.',
  ENOTDIR: 'STEPFORM_DATA must be a folder.',
};

/** The same for a table's database, by SQLite's codes (sqlite.org/rescode.html): FULL, READONLY, CANTOPEN. */
const codesOfSqlite: Record<number, string> = { 13: 'ENOSPC', 8: 'EROFS', 14: 'EACCES' };

const codeOf = (error: unknown): string => {
  const { code = '', errcode = 0 } = error as NodeJS.ErrnoException & { errcode?: number };
  return code in remedies ? code : (codesOfSqlite[errcode & 0xff] ?? '');
};

export const isDiskFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error));

/**
 * Why the platform cannot start, if the user can fix it; undefined for other errors, whose stack trace helps more.
 * @param dataDir named if the system's message does not name it
 */
export const reasonOf = (error: unknown, dataDir?: string): string | undefined => {
  if (error instanceof StartError) return error.message;
  const { message, syscall } = error as NodeJS.ErrnoException;
  const remedy = remedies[codeOf(error)];
  if (!remedy || syscall === 'listen') return undefined;
  const said = dataDir && !message.includes(dataDir) ? `${message} (data folder ${dataDir})` : message;
  return `${said}. ${remedy}`;
};

/** Remedy after damage to the data folder. */
export const afterDamage = `Restore a backup (${programName} restore <file> --force), or set STEPFORM_DATA to a new folder to start with an empty platform.`;
