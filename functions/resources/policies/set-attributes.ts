import { apart, copied, type MovingTable } from '#api/moving.ts';

/** Attributes of a policy set that clients may set, and how import and export treat each. */
export const policySetAttributes = {
  name: copied,
  description: copied,
  kind: { import: 'initial', export: 'copied' },
  global: { import: 'copied', export: 'apart' },
  overridable: copied,
  'policy-tool-version': copied,
  'agent-enabled': copied,
  'tag-selectors': { import: 'copied', export: 'left' },
  /** For policies from a repository or an upload; these are not exported, as a note in the export explains. */
  'policies-path': apart,
  'policy-update-patterns': apart,
  'vcs-repo': apart,
} as const satisfies MovingTable;
