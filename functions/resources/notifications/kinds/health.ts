import { environment } from '#platform/environment.ts';
import { currentName } from '#resources/organizations/records.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { type HealthEvent, healthMessage, healthTriggersOf } from '#run/notifications/health.ts';
import { announce, configurationsOf, wanting } from '../announce.ts';

export const announceHealth = async ({ id, workspaceId, result, prior }: HealthEvent): Promise<void> => {
  const workspace = await getWorkspace(workspaceId);
  if (!workspace) return;
  const { publicUrl: baseUrl } = environment;
  const configurations = await configurationsOf(workspace);
  if (configurations.length === 0) return;
  const shown = { ...workspace, organization: await currentName(workspace.organization) };
  for (const trigger of healthTriggersOf(result)) {
    await announce(wanting(configurations, trigger), {
      trigger,
      status: result.runId,
      projectId: workspace.projectId,
      aboutId: workspaceId,
      eventId: id,
      message: (configurationId) => healthMessage(trigger, { result, prior }, shown, { configurationId, baseUrl }),
    });
  }
};
