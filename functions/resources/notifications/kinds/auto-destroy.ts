import { environment } from '#platform/environment.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { type AutoDestroyEvent, autoDestroyMessage, triggerOf } from '#run/notifications/auto-destroy.ts';
import { announce, wantingOf } from '../announce.ts';

export const announceAutoDestroy = async ({ id, workspaceId, notice }: AutoDestroyEvent): Promise<void> => {
  const workspace = await getWorkspace(workspaceId);
  const trigger = triggerOf(notice);
  if (!workspace) return;
  const { publicUrl: baseUrl } = environment;
  await announce(await wantingOf(workspace, trigger), {
    trigger,
    status: notice.at,
    projectId: workspace.projectId,
    aboutId: workspaceId,
    eventId: id,
    message: (configurationId) => autoDestroyMessage(notice, workspace, { configurationId, baseUrl }),
  });
};
