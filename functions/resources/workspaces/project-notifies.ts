import type { Project } from '#resources/projects/records.ts';
import type { Workspace } from './records.ts';

/** What becomes of its copy when a workspace comes into a project; nothing where that stays the same. */
export const notifiesIn = (
  { notifications }: Pick<Project, 'notifications'>,
  { projectNotifies = false, managedBy }: Pick<Workspace, 'projectNotifies' | 'managedBy'> = {},
): Pick<Workspace, 'projectNotifies'> => {
  const notifies = Boolean(notifications?.size) && !managedBy;
  return notifies === projectNotifies ? {} : { projectNotifies: notifies };
};

/** Whether anybody wants to know what happens in it. */
export const isNotified = ({
  notifications,
  projectNotifies,
}: Pick<Workspace, 'notifications' | 'projectNotifies'>): boolean => Boolean(notifications?.size || projectNotifies);
