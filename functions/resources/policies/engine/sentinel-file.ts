import { posix } from 'node:path';
import type { EnforcementLevel } from '#run/policies.ts';
import type { SourceFile } from './engine.ts';
import { readPolicyBlocks } from './policy-blocks.ts';

/** A policy declared in `sentinel.hcl`. */
export interface SentinelPolicy {
  name: string;
  description: string;
  enforcementLevel: EnforcementLevel;
  /** Path of the policy among the set's files. */
  source: string;
}

/** @throws {PolicySetError} with line and remedy */
export const readSentinelFile = (content: string, sources: SourceFile[]): SentinelPolicy[] =>
  readPolicyBlocks('sentinel.hcl', content, ['source', 'enforcement_level', 'description']).map((block) => {
    const source = posix.normalize(block.text('source') ?? `${block.name}.sentinel`);
    if (!sources.some(({ path }) => path === source)) {
      block.fail(`policy "${block.name}" has the source ${source}, which is not in the archive; pack it too`, 'source');
    }
    return {
      name: block.name,
      description: block.text('description') ?? '',
      enforcementLevel: block.level('sentinel'),
      source,
    };
  });
