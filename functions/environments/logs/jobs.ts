import type { Run } from '../../run/run.ts';
import { buildParts } from '../builds/parts.ts';
import { getBuild } from '../builds/records.ts';
import { settleBuild } from '../builds/settle.ts';
import { dryRunById, settleDryRun } from '../templates/dry-runs.ts';
import { runsOf, settleVersion } from '../templates/import.ts';
import { getVersion, type Version } from '../templates/versions.ts';
import type { Part } from './entries.ts';

/** The log of a job, as it is now. */

export type JobKind = 'version' | 'dry-run' | 'build';

export interface JobLog {
  parts: Part[];
  /** The job is complete, for everybody who asks. */
  isComplete: boolean;
}

const setUp = (at: string): Part => ({ stage: 'Setting up', at });

const planning = (stage: string, run: Run | undefined): Part[] => (run ? [{ stage, run, phase: 'plan' }] : []);

const ending = (version: Pick<Version, 'completedAt' | 'error'>): Part[] =>
  version.completedAt
    ? [
        {
          stage: 'Cleaning Up',
          at: version.completedAt,
          ...(version.error ? { lines: [{ level: 'error' as const, text: version.error }] } : {}),
        },
      ]
    : [];

const ofVersion = async (id: string): Promise<JobLog | undefined> => {
  const known = await getVersion(id);
  if (!known) return undefined;
  const { version, runs } = await settleVersion(known);
  const [first, second] = runs.length ? runs : await runsOf(version);
  const { warnings = [] } = version;
  return {
    isComplete: version.completedAt !== undefined,
    parts: [
      setUp(version.createdAt),
      { stage: 'Parsing template parameters', at: version.createdAt },
      ...planning('Detecting persistent resources', first),
      ...planning('Detecting ephemeral resources', second),
      ...(warnings.length
        ? [
            {
              stage: 'Checking presets',
              at: version.updatedAt,
              lines: warnings.map((text) => ({ level: 'warn' as const, text })),
            },
          ]
        : []),
      ...ending(version),
    ],
  };
};

const ofDryRun = async (id: string): Promise<JobLog | undefined> => {
  const [versionId = '', jobId = ''] = id.split(' ');
  const known = await dryRunById(versionId, jobId);
  if (!known) return undefined;
  const { dryRun, runs } = await settleDryRun(known);
  return {
    isComplete: dryRun.completedAt !== undefined,
    parts: [setUp(dryRun.createdAt), ...planning('Detecting persistent resources', runs[0]), ...ending(dryRun)],
  };
};

const ofBuild = async (id: string): Promise<JobLog | undefined> => {
  const known = await getBuild(id);
  if (!known) return undefined;
  const { build, run } = await settleBuild(known);
  return { isComplete: build.completedAt !== undefined, parts: buildParts(build, run) };
};

const logs: Record<JobKind, (id: string) => Promise<JobLog | undefined>> = {
  version: ofVersion,
  'dry-run': ofDryRun,
  build: ofBuild,
};

export const jobLog = (kind: JobKind, id: string): Promise<JobLog | undefined> => logs[kind](id);
