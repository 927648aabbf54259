import { apart, copied, type MovingTable } from '#api/moving.ts';

/** Attributes of a project that clients may set, and how import and export treat each. */
export const projectAttributes = {
  name: copied,
  description: copied,
  'auto-destroy-activity-duration': copied,
  'default-execution-mode': apart,
  'default-agent-pool-id': apart,
  'setting-overwrites': apart,
} as const satisfies MovingTable;
