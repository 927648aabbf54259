import { buildParts } from '../builds/parts.ts';
import { getBuild } from '../builds/records.ts';
import { settleBuild } from '../builds/settle.ts';
import type { ReadJobLog } from './job-log.ts';

export const logOfBuild: ReadJobLog = async (id) => {
  const known = await getBuild(id);
  if (!known) return undefined;
  const { build, run } = await settleBuild(known);
  return { isComplete: build.completedAt !== undefined, parts: buildParts(build, run) };
};
