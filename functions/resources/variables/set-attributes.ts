import { copied, type MovingTable } from '#api/moving.ts';

/** Attributes of a variable set that clients may set, with what import and export do with each. */
export const variableSetAttributes = {
  name: copied,
  description: copied,
  global: copied,
  priority: copied,
} as const satisfies MovingTable;
