import { apart, copied, type MovingTable } from '#api/moving.ts';

/** Attributes of a run task that clients may set, with what import and export do with each. */
export const taskAttributes = {
  name: copied,
  url: copied,
  description: copied,
  enabled: copied,
  category: copied,
  /** Never shown by the API: asked for, or named in a note. */
  'hmac-key': apart,
  'global-configuration': { import: 'copied', export: 'apart' },
} as const satisfies MovingTable;
