import { resolve } from 'node:path';
import { StartError } from '#infra/local/host/errors.ts';
import { restore } from '#infra/local/host/restore.ts';
import { backUp } from './backup.ts';
import { programName } from './program-name.ts';

/**
 * `stepform backup <file>` and `stepform restore <file>`, or `npm run backup -- <file>` and so on. Environment:
 * STEPFORM_DATA.
 */

const [what, ...rest] = process.argv.slice(2);
const force = rest.includes('--force');
const files = rest.filter((one) => one !== '--force');
const dataDir = resolve(process.env.STEPFORM_DATA || '.stepform');

const saved = async (file: string): Promise<string> => {
  const { bytes, inUse } = await backUp(dataDir, file, { force });
  const ends = inUse ? ' It was in use: after a restore, the first start ends the runs that were in progress.' : '';
  return `Backed up ${dataDir} to ${file} (${bytes} bytes).${ends} It contains tokens, variables and states: keep it private.`;
};

const restored = async (file: string): Promise<string> => {
  const { at, inUse } = await restore(dataDir, file, { force });
  const start = `${programName} start`;
  const next = inUse
    ? `Continue with: ${start}. It ends the runs that were in progress.`
    : `Continue with: ${start}. If anything was planned or applied since ${at}, end the runs of that time first: ${start} --recovered-to ${at}`;
  return `Restored ${dataDir} from ${file}, of ${at}. ${next}`;
};

try {
  const [file] = files;
  if (!file || files.length > 1 || file.startsWith('-')) {
    throw new StartError(`name one file: ${programName} ${what} <file> [--force]`);
  }
  console.log(await (what === 'backup' ? saved : restored)(file));
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const known = error instanceof StartError || code ? message : undefined;
  console.error(known ? `${what} changed nothing: ${known}` : error);
  process.exit(1);
}
