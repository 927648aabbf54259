import type { Resource } from './client.ts';

/** Whether the workspace belongs to an environment or a template, whose own views show it. */
export const isManaged = ({ attributes }: Resource<'workspaces'>): boolean => Boolean(attributes['managed-by']);
