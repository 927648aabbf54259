import { apart, copied, type MovingTable } from '#api/moving.ts';

/** Attributes of a run task that clients may set, and how import and export treat each. */
export const taskAttributes = {
  name: copied,
  url: copied,
  description: copied,
  enabled: copied,
  category: copied,
  /** The API never returns it, so import takes it as an argument or names it in a note. */
  'hmac-key': apart,
  'global-configuration': { import: 'copied', export: 'apart' },
} as const satisfies MovingTable;
