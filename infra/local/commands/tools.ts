import { machineCache } from '#infra/local/host/machine-cache.ts';
import { environment } from '#platform/environment.ts';
import { downloadOpa, onPath, opaAtHand } from '#resources/policies/engine/find-engine.ts';
import { opaVersion } from '#resources/policies/engine/opa-release.ts';
import { programName } from './program-name.ts';

/** Programs that runs and policies need on this machine, so that a missing one is known before the first run. */

/** For the download of OPA, and for one request to Terraform's releases. */
const downloadMs = 60_000;
const requestMs = 5_000;

const reason = (error: unknown): string => {
  const { cause, message } = error as Error;
  return (cause as Error | undefined)?.message || message;
};

const terraformNote = async (): Promise<string[]> => {
  if ((await onPath('terraform')) ?? (await onPath('tofu'))) return [];
  const releases = environment.terraformReleases;
  try {
    await fetch(releases, { method: 'HEAD', signal: AbortSignal.timeout(requestMs) });
    return [`terraform is not on the PATH: the first run downloads it from ${releases}.`];
  } catch (error) {
    return [
      `terraform is not on the PATH, and ${releases} cannot be reached (${reason(error)}): runs will fail. Install terraform, or set STEPFORM_TERRAFORM_RELEASES to a mirror.`,
    ];
  }
};

const opaNote = async (): Promise<string[]> => {
  process.env.STEPFORM_CACHE ??= machineCache;
  if (await opaAtHand()) return [];
  try {
    await downloadOpa(AbortSignal.timeout(downloadMs));
    return [];
  } catch (error) {
    return [
      `Open Policy Agent is not on the PATH, and its download failed (${reason(error)}): policies will fail. Install opa ${opaVersion}, or build it with Go: ${programName} demo --full`,
    ];
  }
};

/** Downloads OPA unless it is there. @returns a line for each program that is missing, with the remedy */
export const missingTools = async (): Promise<string[]> => (await Promise.all([terraformNote(), opaNote()])).flat();
