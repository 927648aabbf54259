import { buildParts } from '../builds/parts.ts';
import { getBuild } from '../builds/records.ts';
import { settleBuild } from '../builds/settle.ts';
import type { ReadJobLog } from './job-log.ts';

export const logOfBuild: ReadJobLog = async (id) => {
  const current = await getBuild(id);
  if (!current) return undefined;
  const { build, run } = await settleBuild(current);
  return { isComplete: build.completedAt !== undefined, parts: buildParts(build, run) };
};
