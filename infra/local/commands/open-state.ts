import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Local } from '#infra/local/host/folder.ts';
import { readKeptState } from '#platform/formats/kept-state.ts';
import { keptStateContext, openDataKey } from '#platform/store/secrets.ts';
import { programName } from './program-name.ts';

/**
 * `stepform open-state <file>`: prints a state that a runner of this platform could not upload. The platform must be
 * running, because it has the key. Environment: STEPFORM_DATA.
 */
const [file] = process.argv.slice(2);
const dataDir = resolve(process.env.STEPFORM_DATA || '.stepform');

const refuse = (reason: string): never => {
  console.error(reason);
  process.exit(1);
};

const usePlatform = async (): Promise<void> => {
  const local = await readFile(join(dataDir, 'local.json'), 'utf8').catch(() =>
    refuse(`${dataDir} is not a data folder of a platform. Set STEPFORM_DATA to its folder.`),
  );
  const { awsCredentials, awsEndpointUrl } = JSON.parse(local) as Local;
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: awsEndpointUrl,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: awsCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: awsCredentials.secretAccessKey,
  });
};

const kept = (content: Buffer): ReturnType<typeof readKeptState> => {
  try {
    return readKeptState(content);
  } catch (error) {
    return refuse(`${file} is not a state that a runner stored: ${(error as Error).message}`);
  }
};

if (!file) {
  console.error(`Name a file: ${programName} open-state <file> > recovered.tfstate`);
  process.exit(2);
}
const { runId, sealed, open } = kept(await readFile(file).catch((error: Error) => refuse(error.message)));
await usePlatform();
const key = await openDataKey(sealed, keptStateContext(runId)).catch((error: Error) =>
  refuse(
    `The state of run ${runId} can’t be decrypted by the platform on ${dataDir}: start it (${programName} start), and set STEPFORM_DATA to the folder of the run’s platform (${error.message})`,
  ),
);
process.stdout.write(open(key));
