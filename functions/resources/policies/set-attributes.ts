import { apart, copied, type MovingTable } from '#api/moving.ts';

/** Attributes of a policy set that clients may set, with what import and export do with each. */
export const policySetAttributes = {
  name: copied,
  description: copied,
  kind: { import: 'initial', export: 'copied' },
  global: { import: 'copied', export: 'apart' },
  overridable: copied,
  'policy-tool-version': copied,
  'agent-enabled': copied,
  'tag-selectors': { import: 'copied', export: 'left' },
  /** Of sets whose policies come from a repository or an upload, which are not moved, as a note says. */
  'policies-path': apart,
  'policy-update-patterns': apart,
  'vcs-repo': apart,
} as const satisfies MovingTable;
