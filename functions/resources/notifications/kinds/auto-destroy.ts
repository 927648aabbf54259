import { environment } from '#platform/environment.ts';
import { currentName } from '#resources/organizations/records.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { type AutoDestroyEvent, autoDestroyMessage, triggerOf } from '#run/notifications/auto-destroy.ts';
import { announce, wantingOf } from '../announce.ts';

export const announceAutoDestroy = async ({ id, workspaceId, notice }: AutoDestroyEvent): Promise<void> => {
  const workspace = await getWorkspace(workspaceId);
  const trigger = triggerOf(notice);
  if (!workspace) return;
  const { publicUrl: baseUrl } = environment;
  const interested = await wantingOf(workspace, trigger);
  if (interested.length === 0) return;
  const shown = { ...workspace, organization: await currentName(workspace.organization) };
  await announce(interested, {
    trigger,
    status: notice.at,
    projectId: workspace.projectId,
    aboutId: workspaceId,
    eventId: id,
    message: (configurationId) => autoDestroyMessage(notice, shown, { configurationId, baseUrl }),
  });
};
