import { runsOf, settleVersion } from '../templates/import.ts';
import { getVersion } from '../templates/versions.ts';
import { ending, planning, type ReadJobLog, setUp } from './job-log.ts';

/** The log of a template version's import. */
export const logOfVersion: ReadJobLog = async (id) => {
  const current = await getVersion(id);
  if (!current) return undefined;
  const { version, runs } = await settleVersion(current);
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
