import type { Project } from '#resources/projects/records.ts';
import type { Workspace } from './records.ts';

/** The changed copy of the flag when a workspace moves into a project; empty when it stays the same. */
export const notifiesIn = (
  { notifications }: Pick<Project, 'notifications'>,
  { projectNotifies = false, managedBy }: Pick<Workspace, 'projectNotifies' | 'managedBy'> = {},
): Pick<Workspace, 'projectNotifies'> => {
  const notifies = Boolean(notifications?.size) && !managedBy;
  return notifies === projectNotifies ? {} : { projectNotifies: notifies };
};

/** Whether any notification configuration covers the workspace. */
export const isNotified = ({
  notifications,
  projectNotifies,
}: Pick<Workspace, 'notifications' | 'projectNotifies'>): boolean => Boolean(notifications?.size || projectNotifies);
