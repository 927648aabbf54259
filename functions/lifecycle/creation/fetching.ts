import { recordVerdict } from '#lifecycle/phases/progress.ts';
import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { type ConfigurationVersion, checkUpload, getConfigurationVersion } from '#resources/configurations/records.ts';
import { deliver } from '#resources/runs/execution.ts';
import { getRun, recordRetry } from '#resources/runs/records.ts';
import type { Run } from '#run/run.ts';
import { getArchive, settleVersion } from '#version-control/archives.ts';

/**
 * Runs created before their configuration was uploaded. Such a run adds its id to the configuration version and then
 * reads the version again; a later change of the version's status finds the id.
 */

/** Called when the run's execution waits. Idempotent; resumes at once if the upload has been processed. */
export const awaitConfiguration = async (run: Run): Promise<void> => {
  const waiting = await update<ConfigurationVersion>(keys.configurationVersion(run.configurationVersionId), {
    add: { awaitedBy: new Set([run.id]) },
    condition: 'status IN (:pending, :fetching)',
    values: { ':pending': 'pending', ':fetching': 'fetching' },
  });
  const version = waiting ? await look(waiting, run.id) : await getConfigurationVersion(run.configurationVersionId);
  if (version && !isOpen(version)) await settle(run, version);
};

const isOpen = ({ status }: ConfigurationVersion): boolean => status === 'pending' || status === 'fetching';

/** Checks whether the upload or the commit has arrived meanwhile. Shows the run why it has not. */
const look = async (version: ConfigurationVersion, runId: string): Promise<ConfigurationVersion> => {
  if (!version.commitArchive) return checkUpload(version);
  const archive = await getArchive(version.commitArchive);
  if (archive?.retry) await recordRetry(runId, archive.retry);
  return (archive && (await settleVersion(archive, version.id))) ?? version;
};

/** Resumes every run that waits for the version, with the upload's outcome. */
export const configurationSettled = async (version: ConfigurationVersion): Promise<void> => {
  if (isOpen(version)) return;
  await Promise.all(
    [...(version.awaitedBy ?? [])].map(async (runId) => {
      const run = await getRun(runId);
      if (run?.status === 'fetching') await settle(run, version);
    }),
  );
};

const settle = async (run: Run, { id, status, errorMessage }: ConfigurationVersion): Promise<void> => {
  const fetched =
    status === 'uploaded'
      ? await recordVerdict(run, 'fetching', 'passed')
      : await recordVerdict(run, 'fetching', 'failed', errorMessage ?? `Configuration version ${id} is ${status}.`);
  await deliver(fetched);
};
