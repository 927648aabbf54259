import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { locked } from '#infra/build/file-lock.ts';
import { type ApiRoute, deriveApiRoutes } from '#infra/stack/api-routes.ts';

const deriveOnce = (file: string): Promise<ApiRoute[]> =>
  locked(`${file}.lock`, async () => {
    if (!existsSync(file)) {
      writeFileSync(`${file}.new`, JSON.stringify(await deriveApiRoutes()));
      renameSync(`${file}.new`, file);
    }
    return JSON.parse(readFileSync(file, 'utf8')) as ApiRoute[];
  });

/**
 * Maps paths to functions. Deriving the map imports the modules of all routes, which takes a second: the first file
 * that needs it does so for all files of a test run (STEPFORM_TEST_SCRATCH, test/vitest.config.ts).
 */
export const knownApiRoutes = (): Promise<ApiRoute[]> => {
  const { STEPFORM_TEST_SCRATCH: folder } = process.env;
  return folder ? deriveOnce(join(folder, 'api-routes.json')) : deriveApiRoutes();
};
