import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiRoute, deriveApiRoutes } from '../../infra/api-routes.ts';

/**
 * Which function answers which path. To derive it imports the modules of all routes: once for a run of tests, so that a
 * file loads no more than the functions that it calls.
 */

/** Where this run of tests keeps them: nobody else's variable. */
const variable = 'STEPFORM_TEST_API_ROUTES';

/** Before the first test. */
export default async (): Promise<void> => {
  const file = join(tmpdir(), 'api-routes.json');
  writeFileSync(file, JSON.stringify(await deriveApiRoutes()));
  process.env[variable] = file;
};

export const knownApiRoutes = async (): Promise<ApiRoute[]> => {
  const file = process.env[variable];
  return file ? (JSON.parse(readFileSync(file, 'utf8')) as ApiRoute[]) : deriveApiRoutes();
};
