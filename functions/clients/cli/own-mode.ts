import type { Resource } from '#clients/client/client.ts';

/** The execution mode that a workspace or project has itself; undefined if it inherits one. */
export const ownMode = ({ attributes }: Resource, name: string): string | undefined => {
  const overwrites = attributes['setting-overwrites'] as Record<string, unknown> | undefined;
  return overwrites?.[name] === false ? undefined : (attributes[name] as string | undefined);
};
