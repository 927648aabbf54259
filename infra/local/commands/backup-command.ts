import { resolve } from 'node:path';
import { backUp, restore } from './backup.ts';
import { StartError } from './errors.ts';
import { programName } from './program-name.ts';

/** `stepform backup <file>` and `stepform restore <file>`, or `npm run backup -- <file>` and so on. Environment: STEPFORM_DATA. */

const [what, ...rest] = process.argv.slice(2);
const force = rest.includes('--force');
const files = rest.filter((one) => one !== '--force');
const dataDir = resolve(process.env.STEPFORM_DATA || '.stepform');

try {
  const [file] = files;
  if (!file || files.length > 1 || file.startsWith('-')) {
    throw new StartError(`name one file: ${programName} ${what} <file> [--force]`);
  }
  if (what === 'backup') {
    const bytes = await backUp(dataDir, file, { force });
    console.log(`${dataDir} is in ${file} (${bytes} bytes). It holds tokens, variables and states: keep it private.`);
  } else {
    await restore(dataDir, file, { force });
    console.log(`Restored ${dataDir} from ${file}. Continue with: ${programName} start`);
  }
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const known = error instanceof StartError || code ? message : undefined;
  console.error(known ? `${what} did nothing: ${known}` : error);
  process.exit(1);
}
