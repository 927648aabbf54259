import type { PolicyKind } from '#run/policies.ts';
import type { SourceFile } from './engine.ts';
import { type Declared, readPoliciesFile } from './policies-file.ts';
import { PolicySetError } from './policy-blocks.ts';
import { readSentinelFile, type SentinelPolicy } from './sentinel-file.ts';

/** The content of a policy set version: queries and source files. Stored as JSON beside the archive. */
export type Bundle =
  | { language: 'rego'; policies: Declared[]; files: SourceFile[] }
  | { language: 'sentinel'; policies: SentinelPolicy[]; files: SourceFile[] };

/** @throws {PolicySetError} with file, line and remedy */
export const bundleOf = (files: SourceFile[], kind: PolicyKind, root: string): Bundle => {
  const find = (name: string) => files.find(({ path }) => path === name)?.content;
  const declaration = find('policies.hcl');
  const sentinel = kind === 'sentinel' ? find('sentinel.hcl') : undefined;
  if (sentinel !== undefined && declaration === undefined) {
    const sources = files.filter(({ path }) => path.endsWith('.sentinel'));
    return { language: 'sentinel', policies: readSentinelFile(sentinel, sources), files: sources };
  }
  if (declaration === undefined) {
    const where = root ? ` in its folder ${root}` : ' at its top';
    const other = kind === 'sentinel' ? ' (or sentinel.hcl)' : '';
    throw new PolicySetError(`The archive has no policies.hcl${other}${where}: add one that declares each policy.`);
  }
  const rego = files.filter(({ path }) => !path.endsWith('.sentinel') && !path.endsWith('.hcl'));
  if (!rego.some(({ path }) => path.endsWith('.rego'))) {
    throw new PolicySetError('The archive has a policies.hcl but no .rego file: add the policies themselves.');
  }
  return { language: 'rego', policies: readPoliciesFile(declaration, kind), files: rego };
};
