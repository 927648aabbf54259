import { gunzipSync, gzipSync } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { PhaseError } from './errors.ts';

/** The files that another runner needs to apply a plan (run.ts: artifact `plan`). */
export interface PlanArchive {
  plan: Buffer;
  /** Versions and checksums of the plan's providers; absent when it used only Terraform's built-in ones. */
  lockFile?: Buffer;
  /** Terraform version that created the plan. */
  version: string;
}

const names = { plan: 'plan.tfplan', lockFile: '.terraform.lock.hcl', version: 'terraform-version' } as const;

export const writePlanArchive = async ({ plan, lockFile, version }: PlanArchive): Promise<Buffer> => {
  const tar = pack();
  tar.entry({ name: names.plan }, plan);
  if (lockFile) tar.entry({ name: names.lockFile }, lockFile);
  tar.entry({ name: names.version }, version);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  // A plan is a zip file already: a higher level would not make it smaller.
  return gzipSync(Buffer.concat(chunks), { level: 1 });
};

/** @throws {PhaseError} */
export const readPlanArchive = async (archive: Buffer): Promise<PlanArchive> => {
  const files = new Map<string, Buffer>();
  try {
    const tar = extract();
    tar.end(gunzipSync(archive));
    for await (const entry of tar) {
      const chunks: Buffer[] = [];
      for await (const chunk of entry) chunks.push(chunk as Buffer);
      files.set(entry.header.name, Buffer.concat(chunks));
    }
  } catch (error) {
    throw new PhaseError(`The stored plan cannot be read (${(error as Error).message}): start a new run.`);
  }
  const plan = files.get(names.plan);
  const version = files.get(names.version)?.toString('utf8');
  if (!plan || !version) throw new PhaseError('The stored plan is not complete: start a new run.');
  return { plan, version, lockFile: files.get(names.lockFile) };
};
