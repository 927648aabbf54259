import type { Compilation, PolicyContent } from '../content.ts';
import { groupsOf, languageVersion } from './evaluate-set.ts';
import { findOpa } from './find-engine.ts';

const limits = { seconds: 10, memoryMiB: 512, outputBytes: 1024 * 1024 };

/** Compiles policies as an evaluation would, without an input. Reads their sources, writes nothing. */
export const handler = async (content: PolicyContent): Promise<Compilation> => {
  for (const { language, error, ...group } of await groupsOf(content)) {
    if (error !== undefined) return { error };
    if (language === 'sentinel') return { uncompiled: 'Sentinel policies are compiled only in runs' };
    const engine = await findOpa(content.toolVersion).catch((missing: Error) => missing);
    if (engine instanceof Error) return { uncompiled: engine.message };
    const failure = await engine.compile?.({
      ...group,
      parameters: {},
      toolVersion: languageVersion(engine, content.toolVersion),
      limits: { ...limits, deadline: Date.now() + limits.seconds * 1000 },
    });
    if (failure !== undefined) return { error: failure };
  }
  return {};
};
