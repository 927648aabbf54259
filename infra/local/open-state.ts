import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readKeptState } from '../../functions/runner/kept-state.ts';
import { keptStateContext, openDataKey } from '../../functions/store/secrets.ts';
import type { Local } from './folder.ts';

/**
 * `npm run open-state -- <file>`: a state that a runner of this platform had to keep, to standard output. The platform
 * must be running: it has the key. Environment: STEPFORM_DATA.
 */
const [file] = process.argv.slice(2);
if (!file) {
  console.error('Give a file: npm run --silent open-state -- <file> > recovered.tfstate');
  process.exit(2);
}
const dataDir = process.env.STEPFORM_DATA || '.stepform';
const { awsEndpointUrl } = JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8')) as Local;
Object.assign(process.env, {
  AWS_ENDPOINT_URL: awsEndpointUrl,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'operator',
  AWS_SECRET_ACCESS_KEY: 'operator',
});
const { runId, sealed, open } = readKeptState(await readFile(file));
process.stdout.write(open(await openDataKey(sealed, keptStateContext(runId))));
