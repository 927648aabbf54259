import { copied, type MovingTable } from '#api/moving.ts';

/** Attributes of a variable set that clients may set, and how import and export treat each. */
export const variableSetAttributes = {
  name: copied,
  description: copied,
  global: copied,
  priority: copied,
} as const satisfies MovingTable;
